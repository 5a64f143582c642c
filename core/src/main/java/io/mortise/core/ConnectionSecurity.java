package io.mortise.core;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import javax.net.ssl.SSLContext;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a client's own connections that a URI cannot have: the certificates of TLS, and
 * user and password of the sentinels.
 *
 * <pre>{@code
 * ConnectionSecurity security =
 *     ConnectionSecurity.builder().tls(sslContext).sentinelPassword("secret").build();
 * LockClient client =
 *     LockClient.create("rediss-sentinel://host1,host2/0#master", security, options);
 * }</pre>
 *
 * <p>The context has the certificates that are trusted, and the client's own, in place of those of
 * the JVM. It counts for all servers of the URI, sentinels included. The certificate of a server
 * has to be for the host name, or the address, under which the client connects: that of the URI, or
 * the one that sentinels or the cluster announce. A context that is changed later, such as one that
 * reads its files again, counts for new connections; those that are open stay open.
 *
 * <p>User and password of the servers with the keys are in the URI. {@code toString} shows no
 * password.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it. Several threads use the context at the same
 * time.
 */
public final class ConnectionSecurity {
  /** No extra settings: a {@code rediss} URI uses the certificates of the JVM. */
  public static final ConnectionSecurity NONE = builder().build();

  private final @Nullable SSLContext tls;
  private final List<String> tlsProtocols;
  private final List<String> tlsCipherSuites;
  private final @Nullable String sentinelUser;
  private final @Nullable String sentinelPassword;

  private ConnectionSecurity(Builder builder) {
    this.tls = builder.tls;
    this.tlsProtocols = builder.tlsProtocols;
    this.tlsCipherSuites = builder.tlsCipherSuites;
    this.sentinelUser = builder.sentinelUser;
    this.sentinelPassword = builder.sentinelPassword;
    if (sentinelUser != null && sentinelPassword == null) {
      throw new IllegalArgumentException("sentinelUser needs sentinelPassword");
    }
    checkSupported();
  }

  private void checkSupported() {
    SSLContext context = tls;
    if (context != null) {
      var supported = context.getSupportedSSLParameters();
      checkAmong("tlsProtocols", tlsProtocols, supported.getProtocols());
      checkAmong("tlsCipherSuites", tlsCipherSuites, supported.getCipherSuites());
    } else if (!tlsProtocols.isEmpty() || !tlsCipherSuites.isEmpty()) {
      throw new IllegalArgumentException("tlsProtocols and tlsCipherSuites need tls");
    }
  }

  private static void checkAmong(String what, List<String> names, String[] supported) {
    for (String name : names) {
      if (!Arrays.asList(supported).contains(name)) {
        throw new IllegalArgumentException(
            "%s: this JVM has no '%s', but %s".formatted(what, name, String.join(", ", supported)));
      }
    }
  }

  /** Returns a builder without any of it. */
  public static Builder builder() {
    return new Builder();
  }

  /** Returns the context of TLS; null for that of the JVM, and without TLS. */
  public @Nullable SSLContext tls() {
    return tls;
  }

  /** Returns the versions of TLS to choose from; empty for those that the context enables. */
  public List<String> tlsProtocols() {
    return tlsProtocols;
  }

  /** Returns the cipher suites to choose from; empty for those that the context enables. */
  public List<String> tlsCipherSuites() {
    return tlsCipherSuites;
  }

  /** Returns the user at the sentinels; null for the default user. */
  public @Nullable String sentinelUser() {
    return sentinelUser;
  }

  /** Returns the password at the sentinels; null if they want none. */
  public @Nullable String sentinelPassword() {
    return sentinelPassword;
  }

  @Override
  public String toString() {
    return "ConnectionSecurity[tls=%s, sentinelUser=%s]"
        .formatted(tls == null ? "of the JVM" : tls.getProtocol(), sentinelUser);
  }

  /**
   * Builds the security of connections.
   *
   * <p><b>Threads.</b> Not safe for use by several threads.
   */
  public static final class Builder {
    private @Nullable SSLContext tls;
    private List<String> tlsProtocols = List.of();
    private List<String> tlsCipherSuites = List.of();
    private @Nullable String sentinelUser;
    private @Nullable String sentinelPassword;

    private Builder() {}

    /** See {@link ConnectionSecurity#tls()}. The URI has to begin with {@code rediss}. */
    public Builder tls(SSLContext context) {
      this.tls = Objects.requireNonNull(context, "context");
      return this;
    }

    /** See {@link ConnectionSecurity#tlsProtocols()}: {@code "TLSv1.3"}. */
    public Builder tlsProtocols(String... protocols) {
      this.tlsProtocols = List.of(Objects.requireNonNull(protocols, "protocols"));
      return this;
    }

    /** See {@link ConnectionSecurity#tlsCipherSuites()}: {@code "TLS_AES_256_GCM_SHA384"}. */
    public Builder tlsCipherSuites(String... suites) {
      this.tlsCipherSuites = List.of(Objects.requireNonNull(suites, "suites"));
      return this;
    }

    /** See {@link ConnectionSecurity#sentinelUser()}. */
    public Builder sentinelUser(String user) {
      this.sentinelUser = Objects.requireNonNull(user, "user");
      return this;
    }

    /**
     * See {@link ConnectionSecurity#sentinelPassword()}. The URI has to be one of sentinels. The
     * sentinels of one URI have the same.
     */
    public Builder sentinelPassword(String password) {
      this.sentinelPassword = Objects.requireNonNull(password, "password");
      return this;
    }

    /**
     * Returns the security.
     *
     * @throws IllegalArgumentException if there is a user without a password, a version or a cipher
     *     suite without a context, or one that this JVM does not have
     */
    public ConnectionSecurity build() {
      return new ConnectionSecurity(this);
    }
  }
}
