package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.ConnectionSecurity;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.contract.Certificates;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Elapsed;
import io.mortise.it.support.SharedRedis;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/** One command acquires all members, and may be longer than what the sockets' buffers hold. */
@Timeout(120)
class ManyMembersTest {
  private static final int MEMBERS = 1_500;
  private static final Duration WAIT = Duration.ofSeconds(1);
  private static final Duration PATIENCE = Duration.ofSeconds(40);
  private static final LockOptions PATIENT =
      LockOptions.builder().commandTimeout(PATIENCE.dividedBy(2)).build();
  private static final long PROMPT_MILLIS = 5_000;

  /** Three bytes for each character. */
  private static final String LONG_NAME = "\u540d".repeat(1_000);

  private static Certificates certificates;

  @AutoClose private RedisServer server;

  @BeforeAll
  static void certify(@TempDir Path directory) throws Exception {
    certificates = Certificates.create(directory, "ip:127.0.0.1");
  }

  @BeforeEach
  void start() {
    server = RedisServer.builder().tls(certificates.certificate(), certificates.key()).start();
  }

  @AfterEach
  void resume() {
    server.resume();
  }

  private static MultiLock lockOf(LockClient client) {
    return new MultiLock(
        IntStream.range(0, MEMBERS).mapToObj(i -> new RedisLock(client, i + LONG_NAME)).toList());
  }

  /**
   * @param patient gives one command the time that megabytes need on a busy machine
   */
  private void assertEndsInTime(LockClient client, LockClient patient) throws Exception {
    SharedRedis.warm(client);
    MultiLock lock = lockOf(client);
    server.pause();

    AsyncCall<Long> waiter =
        AsyncCall.start(
            () ->
                Elapsed.runningMillisOf(
                    () -> {
                      LockException thrown =
                          assertThrows(LockException.class, () -> lock.tryLock(WAIT));
                      assertEquals(Reason.UNREACHABLE, thrown.reason());
                      String message = String.valueOf(thrown.getMessage());
                      assertTrue(message.contains(LONG_NAME), message);
                      // A busy machine may need the whole wait to prepare the command.
                      assertTrue(
                          message.contains("did not answer in time")
                              || message.contains("was over before all members were asked"),
                          message);
                    }));

    long took = waiter.get();
    assertTrue(took < PROMPT_MILLIS, () -> "it took " + took + " ms");
    server.resume();
    assertTrue(lockOf(patient).tryLock(PATIENCE), "all are free");
  }

  @Test
  void aSuspendedServerDelaysItsCallerForTheWait() throws Exception {
    try (LockClient client = LockClient.create(server.uri());
        LockClient patient = LockClient.create(server.uri(), PATIENT)) {
      assertEndsInTime(client, patient);
    }
  }

  @Test
  void itDoesSoOverTls() throws Exception {
    ConnectionSecurity security =
        ConnectionSecurity.builder().tls(certificates.trusting().createSslContext()).build();
    try (LockClient client = LockClient.create(server.tlsUri(), security, LockOptions.defaults());
        LockClient patient = LockClient.create(server.tlsUri(), security, PATIENT)) {
      assertEndsInTime(client, patient);
    }
  }

  @Test
  void itDoesSoOnConnectionsOfAJedisClient() throws Exception {
    try (RedisClient jedis = RedisClient.create(server.host(), server.port());
        LockClient client = LockClient.create(jedis);
        LockClient patient = LockClient.create(jedis, PATIENT)) {
      assertEndsInTime(client, patient);
    }
  }

  @Test
  void itDoesSoOnTlsConnectionsOfAJedisClient() throws Exception {
    try (RedisClient jedis =
            RedisClient.builder()
                .hostAndPort(new HostAndPort(server.host(), server.tlsPort()))
                .clientConfig(
                    DefaultJedisClientConfig.builder().sslOptions(certificates.trusting()).build())
                .build();
        LockClient client = LockClient.create(jedis);
        LockClient patient = LockClient.create(jedis, PATIENT)) {
      assertEndsInTime(client, patient);
    }
  }
}
