package io.mortise.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.security.NoSuchAlgorithmException;
import java.util.List;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;

class ConnectionSecurityTest {
  private static ConnectionSecurity.Builder withTls() throws NoSuchAlgorithmException {
    return ConnectionSecurity.builder().tls(SSLContext.getDefault());
  }

  private static void assertRefused(ConnectionSecurity.Builder builder, String reason) {
    String message = assertThrows(IllegalArgumentException.class, builder::build).getMessage();
    assertTrue(message.contains(reason), message);
  }

  @Test
  void withoutSettingsItHasNone() {
    assertNull(ConnectionSecurity.NONE.tls());
    assertNull(ConnectionSecurity.NONE.sentinelUser());
    assertNull(ConnectionSecurity.NONE.sentinelPassword());
    assertEquals(List.of(), ConnectionSecurity.NONE.tlsProtocols());
    assertEquals(List.of(), ConnectionSecurity.NONE.tlsCipherSuites());
  }

  @Test
  void whatIsSetIsReturned() throws Exception {
    ConnectionSecurity security =
        withTls()
            .tlsProtocols("TLSv1.3")
            .tlsCipherSuites("TLS_AES_256_GCM_SHA384")
            .sentinelUser("ann")
            .sentinelPassword("s3cret")
            .build();

    assertEquals(SSLContext.getDefault(), security.tls());
    assertEquals(List.of("TLSv1.3"), security.tlsProtocols());
    assertEquals(List.of("TLS_AES_256_GCM_SHA384"), security.tlsCipherSuites());
    assertEquals("ann", security.sentinelUser());
    assertEquals("s3cret", security.sentinelPassword());
    assertFalse(security.toString().contains("s3cret"), security.toString());
  }

  @Test
  void halfOfASettingIsRefused() {
    assertRefused(
        ConnectionSecurity.builder().sentinelUser("ann"), "sentinelUser needs sentinelPassword");
    assertRefused(ConnectionSecurity.builder().tlsProtocols("TLSv1.3"), "need tls");
    assertRefused(ConnectionSecurity.builder().tlsCipherSuites("TLS_AES_256_GCM_SHA384"), "need");
  }

  @Test
  void whatThisJvmDoesNotHaveIsRefused() throws Exception {
    assertRefused(withTls().tlsProtocols("TLSv9"), "tlsProtocols: this JVM has no 'TLSv9'");
    assertRefused(withTls().tlsCipherSuites("NO"), "tlsCipherSuites: this JVM has no 'NO'");
  }

  @Test
  void whatTheUriHasNoUseForIsRefusedAndNamesNoPassword() throws Exception {
    ConnectionSecurity sentinels = ConnectionSecurity.builder().sentinelPassword("s3cret").build();
    for (ConnectionSecurity security : List.of(withTls().build(), sentinels)) {
      Throwable thrown =
          assertThrows(
              IllegalArgumentException.class,
              () ->
                  LockClient.create(
                      "redis://joe:s3cret@example", security, LockOptions.defaults()));
      assertFalse(thrown.toString().contains("s3cret"), thrown.toString());
    }
  }
}
