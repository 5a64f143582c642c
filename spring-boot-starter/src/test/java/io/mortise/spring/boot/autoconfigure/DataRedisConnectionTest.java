package io.mortise.spring.boot.autoconfigure;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Key;
import java.security.KeyStore;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * Sentinels and certificates of {@code spring.data.redis} lead to a server that has the lock, over
 * the client's own connections.
 */
@Timeout(120)
class DataRedisConnectionTest {
  private static final String PASSWORD = "changeit";

  @TempDir private static Path directory;
  private static Path certificate;
  private static Path key;
  private static Path otherCertificate;

  private final ApplicationContextRunner runner =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  MortiseAutoConfiguration.class,
                  SslAutoConfiguration.class,
                  DataRedisAutoConfiguration.class));

  @BeforeAll
  static void makeCertificates() throws Exception {
    KeyStore server = keyStore("server");
    certificate = pem("server.crt", "CERTIFICATE", server.getCertificate("redis").getEncoded());
    Key secret = server.getKey("redis", PASSWORD.toCharArray());
    key = pem("server.key", "PRIVATE KEY", secret.getEncoded());
    KeyStore other = keyStore("other");
    otherCertificate = pem("other.crt", "CERTIFICATE", other.getCertificate("redis").getEncoded());
  }

  @Test
  void sentinelsNameTheMaster() {
    try (RedisSentinels redis = RedisSentinels.start()) {
      sentinels(redis).run(context -> assertLocks(context.getBean(LockClient.class), redis));
    }
  }

  @Test
  void sentinelsMayHaveAPassword() {
    try (RedisSentinels redis = RedisSentinels.builder().sentinelPassword("secret").start()) {
      sentinels(redis)
          .withPropertyValues("spring.data.redis.sentinel.password=secret")
          .run(context -> assertLocks(context.getBean(LockClient.class), redis));
      sentinels(redis)
          .withPropertyValues("spring.data.redis.sentinel.password=wrong")
          .run(context -> assertRefused(context.getBean(LockClient.class), "WRONGPASS"));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ssl.enabled=true,cluster.nodes=127.0.0.1:1",
        "ssl.enabled=true,sentinel.master=m,sentinel.nodes=127.0.0.1:1",
        "sentinel.password=secret,sentinel.master=m,sentinel.nodes=127.0.0.1:1",
        "ssl.enabled=true,host=127.0.0.1,port=1"
      })
  void theApplicationStartsWithoutRedis(String properties) {
    runner
        .withPropertyValues("mortise.outage-timeout=1ms")
        .withPropertyValues(
            Stream.of(properties.split(","))
                .map("spring.data.redis."::concat)
                .toArray(String[]::new))
        .run(
            context -> {
              LockClient client = context.getBean(LockClient.class);
              assertThatThrownBy(() -> client.lock("where").tryLock())
                  .isInstanceOfSatisfying(
                      LockException.class,
                      thrown ->
                          assertThat(thrown.reason()).isEqualTo(LockException.Reason.UNREACHABLE));
            });
  }

  @Test
  void theServerIsTrustedByTheCertificateOfTheBundle() {
    try (RedisServer redis = RedisServer.builder().tls(certificate, key).start()) {
      trusting(certificate)
          .withPropertyValues(
              "spring.data.redis.host=" + redis.host(), "spring.data.redis.port=" + redis.tlsPort())
          .run(context -> assertLocks(context.getBean(LockClient.class), redis));
    }
  }

  @Test
  void aServerThatTheBundleDoesNotTrustIsRefused() {
    try (RedisServer redis = RedisServer.builder().tls(certificate, key).start()) {
      trusting(otherCertificate)
          .withPropertyValues(
              "mortise.outage-timeout=100ms",
              "spring.data.redis.host=" + redis.host(),
              "spring.data.redis.port=" + redis.tlsPort())
          .run(
              context ->
                  assertRefused(context.getBean(LockClient.class), "PKIX path building failed"));
      assertThat(redis.command("EXISTS", "where")).isEqualTo(0L);
    }
  }

  @Test
  void theHostOfTheServerHasToBeThatOfTheCertificate() {
    try (RedisServer redis = RedisServer.builder().tls(certificate, key).start()) {
      trusting(certificate)
          .withPropertyValues(
              "spring.data.redis.host=localhost", "spring.data.redis.port=" + redis.tlsPort())
          .run(
              context ->
                  assertRefused(
                      context.getBean(LockClient.class), "No name matching localhost found"));
    }
  }

  @Test
  void theProtocolsOfTheBundleCount() {
    try (RedisServer redis =
        RedisServer.builder().tls(certificate, key).config("tls-protocols", "TLSv1.3").start()) {
      ApplicationContextRunner server =
          trusting(certificate)
              .withPropertyValues(
                  "mortise.outage-timeout=1ms",
                  "spring.data.redis.host=" + redis.host(),
                  "spring.data.redis.port=" + redis.tlsPort());
      server
          .withPropertyValues("spring.ssl.bundle.pem.redis.options.enabled-protocols=TLSv1.3")
          .run(context -> assertLocks(context.getBean(LockClient.class), redis));
      server
          .withPropertyValues("spring.ssl.bundle.pem.redis.options.enabled-protocols=TLSv1.2")
          .run(context -> assertRefused(context.getBean(LockClient.class), "protocol_version"));
    }
  }

  @Test
  void theLimitOfConnectionsCountsWithABundle() {
    try (RedisServer redis = RedisServer.builder().tls(certificate, key).start()) {
      trusting(certificate)
          .withPropertyValues(
              "mortise.tuning.max-connections=1",
              "spring.data.redis.host=" + redis.host(),
              "spring.data.redis.port=" + redis.tlsPort())
          .run(
              context -> {
                LockClient client = context.getBean(LockClient.class);
                assertLocks(client, redis);
                redis.pause();
                CompletableFuture<Optional<Lease>> first =
                    client.lock("first").acquireAsync(Duration.ofSeconds(50)).toCompletableFuture();
                await().until(() -> client.status().connectionsInUse() == 1);
                assertThatThrownBy(() -> client.lock("second").tryLock(Duration.ofMillis(100)))
                    .hasMessageContaining("all connections")
                    .hasMessageContaining("raise LockTuning.maxConnections");
                redis.resume();
                assertThat(first.get(50, TimeUnit.SECONDS)).hasValueSatisfying(Lease::close);
              });
    }
  }

  @Test
  void theBundleIsForTheSentinelsAndTheMaster() {
    try (RedisSentinels redis = RedisSentinels.builder().tls(certificate, key).start()) {
      trusting(certificate)
          .withPropertyValues(namesOf(redis))
          .run(context -> assertLocks(context.getBean(LockClient.class), redis));
    }
  }

  @Test
  void theHostOfASentinelHasToBeThatOfItsCertificate() {
    try (RedisSentinels redis = RedisSentinels.builder().tls(certificate, key).start()) {
      int port = redis.sentinelHostPorts().iterator().next().getPort();
      trusting(certificate)
          .withPropertyValues(
              "mortise.outage-timeout=1ms",
              "spring.data.redis.sentinel.master=" + redis.masterName(),
              "spring.data.redis.sentinel.nodes=localhost:" + port)
          .run(
              context ->
                  assertRefused(
                      context.getBean(LockClient.class), "No name matching localhost found"));
    }
  }

  @Test
  void theBundleIsForAllNodesOfACluster() {
    try (RedisCluster redis = RedisCluster.builder().tls(certificate, key).replicas(0).start()) {
      String nodes =
          redis.hostPorts().stream().map(Object::toString).collect(Collectors.joining(","));
      trusting(certificate)
          .withPropertyValues("spring.data.redis.cluster.nodes=" + nodes)
          .run(context -> assertLocks(context.getBean(LockClient.class), redis.masterOf("where")));
    }
  }

  private ApplicationContextRunner sentinels(RedisSentinels redis) {
    return runner.withPropertyValues(namesOf(redis));
  }

  private static String[] namesOf(RedisSentinels redis) {
    String nodes =
        redis.sentinelHostPorts().stream().map(Object::toString).collect(Collectors.joining(","));
    return new String[] {
      "spring.data.redis.sentinel.master=" + redis.masterName(),
      "spring.data.redis.sentinel.nodes=" + nodes
    };
  }

  private ApplicationContextRunner trusting(Path trusted) {
    return runner.withPropertyValues(
        "spring.ssl.bundle.pem.redis.truststore.certificate=file:" + trusted,
        "spring.data.redis.ssl.bundle=redis");
  }

  private static void assertLocks(LockClient client, RedisSentinels redis) {
    assertLocks(client, redis.master());
  }

  private static void assertLocks(LockClient client, RedisServer server) {
    assertThat(client.lock("where").tryLock()).isTrue();
    assertThat(server.command("EXISTS", "where")).isEqualTo(1L);
    client.lock("where").unlock();
  }

  private static void assertRefused(LockClient client, String why) {
    assertThatThrownBy(() -> client.lock("where").tryLock())
        .isInstanceOf(LockException.class)
        .hasStackTraceContaining(why);
  }

  private static KeyStore keyStore(String name) throws Exception {
    Path store = directory.resolve(name + ".p12");
    Path log = directory.resolve(name + ".log");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "redis",
                "-keyalg",
                "EC",
                "-dname",
                "CN=" + name,
                "-ext",
                "san=ip:127.0.0.1",
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-storepass",
                PASSWORD,
                "-keystore",
                store.toString())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      throw new IOException(Files.readString(log));
    }
    return KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
  }

  private static Path pem(String name, String what, byte[] content) throws IOException {
    String base64 = Base64.getMimeEncoder(64, "\n".getBytes(US_ASCII)).encodeToString(content);
    String frame = "-----%s " + what + "-----\n";
    return Files.writeString(
        directory.resolve(name),
        frame.formatted("BEGIN") + base64 + "\n" + frame.formatted("END"),
        US_ASCII);
  }
}
