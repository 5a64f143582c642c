package io.mortise.spring.boot.autoconfigure;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.Key;
import java.security.KeyStore;
import java.util.Base64;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Sentinels and certificates of {@code spring.data.redis} lead to a server that has the lock. */
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
          .run(context -> assertThat(context).hasFailed());
    }
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
              context -> {
                LockClient client = context.getBean(LockClient.class);
                assertThatThrownBy(() -> client.lock("where").tryLock())
                    .isInstanceOf(LockException.class)
                    .hasStackTraceContaining("PKIX path building failed");
              });
      assertThat(redis.command("EXISTS", "where")).isEqualTo(0L);
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
