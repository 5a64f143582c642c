package io.mortise.it.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.testkit.JavaProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Locks over TLS by {@code rediss://}, with the trust store of the JVM. On a Jedis client with one
 * of its own, see {@code io.mortise.it.topology}.
 */
@Timeout(60)
@Tag("redis-version")
class TlsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  /** Without the wait of 20 s that the child would have had for a lock. */
  private static final Duration AT_ONCE = Duration.ofSeconds(15);

  private static TlsServer server;

  @BeforeAll
  static void start(@TempDir Path directory) throws Exception {
    server = TlsServer.start(Certificates.make(directory, "ip:127.0.0.1"));
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void aTrustedServerIsLockedOnAndItsWaiterIsWoken() throws Exception {
    try (LockClient plain = LockClient.create(server.redis().uri())) {
      DistributedLock lock = new RedisLock(plain, Names.fresh());
      lock.lock();
      try (JavaProcess child =
          TlsProcess.trusting(server.certificates(), server.uri(), lock.name())) {
        String channel = "redisson_lock__channel:{" + lock.name() + "}";
        await()
            .atMost(PATIENCE)
            .until(() -> server.redis().command("PUBSUB", "CHANNELS").equals(List.of(channel)));
        lock.unlock();
        child.awaitLine("locked", PATIENCE);
        child.awaitExit(PATIENCE);
      }
    }
  }

  @Test
  void aServerWhoseCertificateIsNotTrustedIsRefused() throws Exception {
    try (JavaProcess child = TlsProcess.trustingTheWorld(server.uri(), Names.fresh())) {
      assertRefused(child, "PKIX path building failed");
    }
  }

  @Test
  void aServerWhoseCertificateIsForAnotherHostIsRefused(@TempDir Path directory) throws Exception {
    try (TlsServer other = TlsServer.start(Certificates.make(directory, "dns:redis.example"));
        JavaProcess child = TlsProcess.trusting(other.certificates(), other.uri(), Names.fresh())) {
      assertRefused(child, "No subject alternative names matching");
    }
  }

  @Test
  void aPortThatSpeaksTlsIsToldToWhoeverSpeaksPlain() {
    try (LockClient client =
        LockClient.create(
            server.uri().replace("rediss:", "redis:"),
            LockOptions.builder().outageTimeout(Duration.ZERO).build())) {
      LockException thrown =
          assertThrows(LockException.class, new RedisLock(client, Names.fresh())::lock);

      assertEquals(LockException.Reason.UNREACHABLE, thrown.reason());
      assertTrue(
          thrown.getMessage().contains("use rediss:// instead of redis://"), thrown::getMessage);
    }
  }

  @Test
  void aPortThatSpeaksPlainIsToldToWhoeverSpeaksTls() {
    try (LockClient client =
        LockClient.create(
            server.redis().uri().replace("redis:", "rediss:"),
            LockOptions.builder()
                .commandTimeout(Duration.ofMillis(500))
                .outageTimeout(Duration.ZERO)
                .build())) {
      LockException thrown =
          assertThrows(LockException.class, new RedisLock(client, Names.fresh())::lock);

      assertEquals(LockException.Reason.UNREACHABLE, thrown.reason());
      assertTrue(
          thrown.getMessage().contains("use redis:// instead of rediss://"), thrown::getMessage);
    }
  }

  private static void assertRefused(JavaProcess child, String why) throws InterruptedException {
    String refused = child.awaitLine("refused CERTIFICATE_REJECTED: ", AT_ONCE);
    assertTrue(refused.contains("the certificate of 127.0.0.1:"), refused);
    assertTrue(refused.contains(why), refused);
  }
}
