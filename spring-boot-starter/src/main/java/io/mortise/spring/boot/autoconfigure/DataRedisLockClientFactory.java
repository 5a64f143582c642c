package io.mortise.spring.boot.autoconfigure;

import io.mortise.core.ConnectionSecurity;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Cluster;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Sentinel;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Standalone;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslOptions;
import org.springframework.core.env.Environment;
import org.springframework.util.StringUtils;

/**
 * Creates the client for the Redis that Spring Boot connects to: {@code spring.data.redis.*}, a
 * service connection of Testcontainers, or any other {@link DataRedisConnectionDetails}.
 *
 * <p>The client has its own connections. A URI names the servers; the certificates of an SSL bundle
 * and the password of sentinels are given beside it.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
final class DataRedisLockClientFactory implements LockClientFactory {
  private final DataRedisConnectionDetails details;
  private final boolean tlsByUrl;
  private final boolean hostGiven;
  private final List<String> ownConnections;

  /**
   * Creates the factory.
   *
   * @param environment has {@code spring.data.redis.url}: its scheme {@code rediss} means TLS, and
   *     is nowhere in the details
   * @param ownConnections the beans by which the application connects, whatever the details say
   */
  DataRedisLockClientFactory(
      DataRedisConnectionDetails details, Environment environment, List<String> ownConnections) {
    String url = environment.getProperty("spring.data.redis.url");
    this.details = details;
    this.tlsByUrl = url != null && url.startsWith("rediss:") && isOf(url, details.getStandalone());
    this.hostGiven = url != null || environment.containsProperty("spring.data.redis.host");
    this.ownConnections = ownConnections;
  }

  /** A service connection takes the place of the properties, and may have no TLS. */
  private static boolean isOf(String url, @Nullable Standalone standalone) {
    return standalone == null || standalone.getHost().equals(URI.create(url).getHost());
  }

  @Override
  public LockClient create(LockOptions options) {
    return LockClient.create(uri(), security(), options);
  }

  /** Returns the URI of this Redis. It has the password. */
  String uri() {
    String scheme = tlsByUrl || details.getSslBundle() != null ? "rediss" : "redis";
    Sentinel sentinel = details.getSentinel();
    if (sentinel != null) {
      return "%s-sentinel://%s%s/%d#%s"
          .formatted(
              scheme,
              credentials(),
              hosts(sentinel.getNodes()),
              sentinel.getDatabase(),
              sentinel.getMaster());
    }
    Cluster cluster = details.getCluster();
    if (cluster != null) {
      return scheme + "-cluster://" + credentials() + hosts(cluster.getNodes());
    }
    Standalone standalone = standalone();
    return "%s://%s%s:%d/%d"
        .formatted(
            scheme,
            credentials(),
            inUri(standalone.getHost()),
            standalone.getPort(),
            standalone.getDatabase());
  }

  /** Returns what the URI cannot say: the certificates, and the user of the sentinels. */
  private ConnectionSecurity security() {
    ConnectionSecurity.Builder security = ConnectionSecurity.builder();
    SslBundle bundle = details.getSslBundle();
    if (bundle != null) {
      SslOptions options = bundle.getOptions();
      security
          .tls(bundle.createSslContext())
          .tlsProtocols(orNone(options.getEnabledProtocols()))
          .tlsCipherSuites(orNone(options.getCiphers()));
    }
    Sentinel sentinel = details.getSentinel();
    if (sentinel != null && StringUtils.hasLength(sentinel.getPassword())) {
      security.sentinelPassword(sentinel.getPassword());
      if (StringUtils.hasLength(sentinel.getUsername())) {
        security.sentinelUser(sentinel.getUsername());
      }
    }
    return security.build();
  }

  private static String[] orNone(String @Nullable [] names) {
    return names == null ? new String[0] : names;
  }

  private Standalone standalone() {
    Standalone standalone = details.getStandalone();
    if (standalone == null || details.getMasterReplica() != null) {
      throw new IllegalStateException(
          "locks need one server, sentinels or a cluster, and spring.data.redis names static"
              + " replicas; set mortise.redis.uri to the master");
    }
    if (!ownConnections.isEmpty() && !hostGiven && isDefault(standalone)) {
      throw new IllegalStateException(
          "the application connects to Redis by its beans %s, and spring.data.redis names no server;"
                  .formatted(ownConnections)
              + " set mortise.redis.uri to that of the locks");
    }
    return standalone;
  }

  private static boolean isDefault(Standalone standalone) {
    return standalone.getHost().equals("localhost") && standalone.getPort() == 6379;
  }

  private String credentials() {
    String password = details.getPassword();
    if (password == null || password.isEmpty()) {
      return "";
    }
    String user = details.getUsername();
    return encoded(user == null ? "" : user) + ":" + encoded(password) + "@";
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  private static String hosts(List<Node> nodes) {
    return nodes.stream()
        .map(node -> inUri(node.host()) + ":" + node.port())
        .collect(Collectors.joining(","));
  }

  /** Returns the host as a URI has it: an IPv6 address is in brackets. */
  private static String inUri(String host) {
    return host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host;
  }
}
