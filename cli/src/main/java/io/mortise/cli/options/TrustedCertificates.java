package io.mortise.cli.options;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The certificates of a file, which are trusted in place of those of the JVM. */
final class TrustedCertificates {
  private TrustedCertificates() {}

  /**
   * Returns a context of TLS that trusts these certificates alone.
   *
   * @param file one certificate or more, in PEM or DER
   * @throws IllegalArgumentException if it cannot be read, or has none; with the sentence for the
   *     user
   */
  static SSLContext of(Path file) {
    Collection<? extends Certificate> certificates = read(file);
    if (certificates.isEmpty()) {
      throw new IllegalArgumentException("--cacert: '%s' has no certificate".formatted(file));
    }
    try {
      return trusting(certificates);
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("this JVM has no TLS", e);
    }
  }

  private static Collection<? extends Certificate> read(Path file) {
    try {
      byte[] content = Files.readAllBytes(file);
      return CertificateFactory.getInstance("X.509")
          .generateCertificates(new ByteArrayInputStream(content));
    } catch (NoSuchFileException e) {
      throw new IllegalArgumentException("--cacert: there is no file '%s'".formatted(file), e);
    } catch (AccessDeniedException e) {
      throw new IllegalArgumentException(
          "--cacert: '%s' cannot be read: access is denied".formatted(file), e);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "--cacert: '%s' cannot be read: %s".formatted(file, e.getMessage()), e);
    } catch (CertificateException e) {
      throw new IllegalArgumentException(
          "--cacert: '%s' has what is no certificate: %s".formatted(file, e.getMessage()), e);
    }
  }

  private static SSLContext trusting(Collection<? extends Certificate> certificates)
      throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    for (Certificate certificate : certificates) {
      store.setCertificateEntry("trusted-" + store.size(), certificate);
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }
}
