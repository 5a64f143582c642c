package io.mortise.cli;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.testkit.JavaProcess;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The option {@code --cacert}: the command on servers whose certificates the JVM does not have. */
@Timeout(120)
class CacertTest {
  private static final String PASSWORD = "changeit";

  @TempDir private static Path directory;
  private static Path certificate;
  private static Path key;
  private static Path another;

  @BeforeAll
  static void makeCertificates() throws Exception {
    KeyStore server = keyStore("server");
    byte[] secret = server.getKey("redis", PASSWORD.toCharArray()).getEncoded();
    key = pem("server.key", "PRIVATE KEY", secret);
    certificate = pem("server.crt", "CERTIFICATE", server.getCertificate("redis").getEncoded());
    byte[] other = keyStore("another").getCertificate("redis").getEncoded();
    another = pem("another.crt", "CERTIFICATE", other);
  }

  private static KeyStore keyStore(String name) throws Exception {
    Path store = directory.resolve(name + ".p12");
    String arguments =
        "-genkeypair -alias redis -keyalg EC -dname CN=test -ext san=ip:127.0.0.1 -validity 2"
            + " -storetype PKCS12 -storepass %s -keystore %s";
    List<String> command =
        new ArrayList<>(List.of(arguments.formatted(PASSWORD, store).split(" ", -1)));
    command.add(0, Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    Process keytool = new ProcessBuilder(command).inheritIO().start();
    assertTrue(keytool.waitFor(30, TimeUnit.SECONDS));
    assertEquals(0, keytool.exitValue());
    return KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
  }

  private static Path pem(String file, String what, byte[] content) throws Exception {
    String frame = "-----%s " + what + "-----\n";
    String base64 = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    return Files.writeString(
        directory.resolve(file),
        frame.formatted("BEGIN") + base64 + "\n" + frame.formatted("END"),
        US_ASCII);
  }

  /** Runs a command under a lock, in a process of its own because of its signals. */
  private static void assertLocks(Path trusted, String uri) {
    try (JavaProcess run =
        JavaProcess.builder(Main.class)
            .arguments(
                "run", "--cacert", trusted.toString(), "--redis", uri, "deploy", "--", "echo", "in")
            .start()) {
      assertEquals(0, run.awaitExit(Duration.ofSeconds(60)), run::output);
      assertEquals("in", run.output().strip());
    }
  }

  @Test
  void aClusterOverTlsIsTrustedByItsCertificate() {
    try (RedisCluster cluster =
        RedisCluster.builder().tls(certificate, key).masters(3).replicas(0).start()) {
      List<String> hosts = cluster.hostPorts().stream().map(Object::toString).toList();

      assertLocks(certificate, "rediss-cluster://" + hosts.get(0));
      for (String uri :
          List.of("rediss-cluster://" + hosts.get(1), "rediss://" + String.join(",", hosts))) {
        CommandRun inspect =
            CommandRun.of("inspect", "--cacert", certificate.toString(), "--redis", uri);
        assertEquals(0, inspect.status(), inspect::err); // searches each master
        assertEquals("", inspect.err());
      }
    }
  }

  @Test
  void oneServerIsTrustedByAnyCertificateOfTheFile() throws Exception {
    String its = Files.readString(certificate);
    String others = Files.readString(another);
    try (RedisServer server = RedisServer.builder().tls(certificate, key).start()) {
      for (String bundle : List.of(its + others, "# of two authorities\n" + others + its)) {
        Path file = Files.writeString(directory.resolve("bundle.crt"), bundle);
        CommandRun run =
            CommandRun.of("inspect", "--cacert", file.toString(), "--redis", server.tlsUri());
        assertEquals(0, run.status(), run::err);
      }
    }
  }

  /** Those of the JVM do not count then, nor the other way round. */
  @Test
  void aServerWithAnotherCertificateIsRefused() {
    try (RedisServer server = RedisServer.builder().tls(certificate, key).start()) {
      CommandRun wrong =
          CommandRun.of("inspect", "--cacert", another.toString(), "--redis", server.tlsUri(), "x");
      CommandRun none = CommandRun.of("inspect", "--redis", server.tlsUri(), "x");
      for (CommandRun run : List.of(wrong, none)) {
        assertEquals(3, run.status());
        assertTrue(run.err().contains("the certificate of 127.0.0.1"), run::err);
      }
      CommandRun doctor = CommandRun.of("doctor", "--redis", server.tlsUri());
      assertTrue(doctor.out().contains("--cacert"), doctor::out);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "missing.crt | rediss://127.0.0.1:1 | --cacert: there is no file '",
        ". | rediss://127.0.0.1:1 | cannot be read: Is a directory",
        "empty | rediss-cluster://127.0.0.1:1 | has no certificate",
        "text | rediss-cluster://127.0.0.1:1 | certificate",
        "server.key | rediss://127.0.0.1:1 | has what is no certificate",
        "server.crt | redis://127.0.0.1:1 | --redis: --cacert is for a URI with rediss",
        "server.crt | redis-cluster://127.0.0.1:1 | --redis: --cacert is for a URI with rediss",
      })
  void whatIsWrongIsSaidBeforeAnythingIsSent(String file, String uri, String message)
      throws Exception {
    Files.writeString(directory.resolve("empty"), "");
    Files.writeString(directory.resolve("text"), "no certificate\n");
    String path = directory.resolve(file).toString();

    CommandRun inspect = CommandRun.of("inspect", "--cacert", path, "--redis", uri, "x");
    CommandRun run = CommandRun.of("run", "--cacert", path, "--redis", uri, "x", "--", "true");

    assertEquals(2, inspect.status(), inspect::err);
    assertEquals(125, run.status(), run::err);
    for (CommandRun each : List.of(inspect, run)) {
      assertTrue(each.err().contains(message), each::err);
      String lines = each.err().lines().collect(Collectors.joining("|"));
      assertEquals(2, each.err().lines().count(), lines);
    }
  }
}
