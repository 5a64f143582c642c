package io.mortise.it.contract;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.mortise.testkit.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import redis.clients.jedis.SslOptions;

/**
 * A key and a self-signed certificate, made by the JDK's keytool, as files for both sides: PEM for
 * the server, a trust store for clients.
 */
public record Certificates(Path certificate, Path key, Path trustStore) {
  public static final String PASSWORD = "changeit";
  private static final String ALIAS = "redis";

  /**
   * Creates the files.
   *
   * @param subject as keytool writes it: {@code ip:127.0.0.1}, {@code dns:localhost}
   */
  public static Certificates create(Path directory, String subject)
      throws IOException, GeneralSecurityException, InterruptedException {
    Path store = directory.resolve("server.p12");
    String arguments =
        "-genkeypair -alias %s -keyalg EC -dname CN=test -ext san=%s -validity 2 -storetype PKCS12 -storepass %s"
            .formatted(ALIAS, subject, PASSWORD);
    List<String> command = new ArrayList<>(List.of(arguments.split(" ", -1)));
    command.add(0, Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-keystore", store.toString()));
    Process keytool =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve("keytool.log").toFile())
            .start();
    if (!keytool.waitFor(30, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      throw new IOException(Files.readString(directory.resolve("keytool.log")));
    }
    KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
    Key key = keys.getKey(ALIAS, PASSWORD.toCharArray());
    Certificate certificate = keys.getCertificate(ALIAS);

    KeyStore trusted = KeyStore.getInstance("PKCS12");
    trusted.load(null, null);
    trusted.setCertificateEntry(ALIAS, certificate);
    Path trustStore = directory.resolve("trusted.p12");
    try (var out = Files.newOutputStream(trustStore)) {
      trusted.store(out, PASSWORD.toCharArray());
    }
    return new Certificates(
        pem(directory.resolve("server.crt"), "CERTIFICATE", certificate.getEncoded()),
        pem(directory.resolve("server.key"), "PRIVATE KEY", key.getEncoded()),
        trustStore);
  }

  /** Returns the options of a Jedis client that trusts the certificate. */
  public SslOptions trusting() {
    return SslOptions.builder().truststore(trustStore.toFile(), PASSWORD.toCharArray()).build();
  }

  /** Starts a server that also speaks TLS, with this certificate. */
  RedisServer startServer() {
    return RedisServer.builder().tls(certificate, key).start();
  }

  private static Path pem(Path file, String what, byte[] content) throws IOException {
    String base64 = Base64.getMimeEncoder(64, "\n".getBytes(US_ASCII)).encodeToString(content);
    String frame = "-----%s " + what + "-----\n";
    return Files.writeString(
        file, frame.formatted("BEGIN") + base64 + "\n" + frame.formatted("END"), US_ASCII);
  }
}
