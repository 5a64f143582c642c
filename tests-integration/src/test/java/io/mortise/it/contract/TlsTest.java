package io.mortise.it.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.ConnectionSecurity;
import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Locks over TLS by {@code rediss://}, with the trust store of the JVM or with a given context.
 * {@code io.mortise.it.topology} tests Jedis clients with their own trust store.
 */
@Timeout(60)
@Tag("redis-version")
class TlsTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  /** Less than the 20 s that the child would wait for a lock. */
  private static final Duration AT_ONCE = Duration.ofSeconds(15);

  private static Certificates certificates;
  @AutoClose private static RedisServer server;

  @BeforeAll
  static void start(@TempDir Path directory) throws Exception {
    certificates = Certificates.create(directory, "ip:127.0.0.1");
    server = certificates.startServer();
  }

  @Test
  void aWaiterOnATrustedServerIsWoken() throws Exception {
    try (LockClient plain = LockClient.create(server.uri())) {
      DistributedLock lock = new RedisLock(plain, Names.fresh());
      lock.lock();
      try (JavaProcess child = TlsProcess.trusting(certificates, server.tlsUri(), lock.name())) {
        await().atMost(LIMIT).until(() -> SharedRedis.subscribers(server, lock.name()) == 1);
        lock.unlock();
        child.awaitLine("locked", LIMIT);
        child.awaitExit(LIMIT);
      }
    }
  }

  @Test
  void aServerWhoseCertificateIsNotTrustedIsRefused() throws Exception {
    try (JavaProcess child = TlsProcess.withDefaultTrustStore(server.tlsUri(), Names.fresh())) {
      assertRefused(child, "PKIX path building failed");
    }
  }

  @Test
  void aServerWhoseCertificateIsForAnotherHostIsRefused(@TempDir Path directory) throws Exception {
    Certificates others = Certificates.create(directory, "dns:redis.example");
    try (RedisServer other = others.startServer();
        JavaProcess child = TlsProcess.trusting(others, other.tlsUri(), Names.fresh())) {
      assertRefused(child, "No subject alternative names matching");
    }
  }

  @Test
  void aWaiterThatIsGivenTheCertificateNeedsNoTrustStore() throws Exception {
    try (LockClient plain = LockClient.create(server.uri());
        LockClient given = trusting(certificates, server)) {
      DistributedLock lock = new RedisLock(plain, Names.fresh());
      lock.lock();
      AsyncCall<Boolean> waiter =
          AsyncCall.start(() -> given.lock(lock.name()).tryLock(Duration.ofSeconds(20)));
      await().atMost(LIMIT).until(() -> SharedRedis.subscribers(server, lock.name()) == 1);
      lock.unlock();
      assertTrue(waiter.get());
    }
  }

  @Test
  void theHostCountsWithAGivenCertificateToo(@TempDir Path directory) throws Exception {
    Certificates others = Certificates.create(directory, "dns:redis.example");
    try (RedisServer other = others.startServer();
        LockClient client = trusting(others, other)) {
      LockException thrown =
          assertThrows(LockException.class, new RedisLock(client, Names.fresh())::lock);

      assertEquals(LockException.Reason.CERTIFICATE_REJECTED, thrown.reason());
      assertTrue(thrown.getMessage().contains("No subject alternative names matching"));
    }
  }

  private static LockClient trusting(Certificates trusted, RedisServer redis) throws Exception {
    return LockClient.create(
        redis.tlsUri(),
        ConnectionSecurity.builder().tls(trusted.trusting().createSslContext()).build(),
        LockOptions.defaults());
  }

  @Test
  void theErrorOfAPlainClientAtATlsPortNamesTheScheme() {
    assertWrongScheme(
        server.tlsUri().replace("rediss:", "redis:"), "use rediss:// instead of redis://");
  }

  @Test
  void theErrorOfATlsClientAtAPlainPortNamesTheScheme() {
    assertWrongScheme(
        server.uri().replace("redis:", "rediss:"), "use redis:// instead of rediss://");
  }

  private static void assertWrongScheme(String uri, String remedy) {
    LockOptions options = LockOptions.builder().outageTimeout(Duration.ZERO).build();
    try (LockClient client = LockClient.create(uri, options)) {
      LockException thrown =
          assertThrows(LockException.class, new RedisLock(client, Names.fresh())::lock);

      assertEquals(LockException.Reason.UNREACHABLE, thrown.reason());
      assertTrue(thrown.getMessage().contains(remedy), thrown::getMessage);
    }
  }

  private static void assertRefused(JavaProcess child, String why) throws InterruptedException {
    String refused = child.awaitLine("refused CERTIFICATE_REJECTED: ", AT_ONCE);
    assertTrue(refused.contains("the certificate of 127.0.0.1:"), refused);
    assertTrue(refused.contains(why), refused);
  }
}
