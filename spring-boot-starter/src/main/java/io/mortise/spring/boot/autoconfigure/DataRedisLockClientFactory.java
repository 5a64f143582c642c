package io.mortise.spring.boot.autoconfigure;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Cluster;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Sentinel;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Standalone;
import org.springframework.boot.ssl.SslBundle;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.UnifiedJedis;

/**
 * Creates the client for the Redis that Spring Boot connects to: {@code spring.data.redis.*}, a
 * service connection of Testcontainers, or any other {@link DataRedisConnectionDetails}.
 *
 * <p>A URI says it where it can: such a client watches sentinels and clusters itself. With
 * certificates of a bundle, or a password of the sentinels, it is a Jedis client, which is closed
 * after the lock client.
 *
 * <p><b>Threads.</b> One thread makes the client. Another one may close it, such as the shutdown
 * hook of the JVM; the field is volatile for it.
 */
final class DataRedisLockClientFactory implements LockClientFactory, AutoCloseable {
  private final DataRedisConnectionDetails details;
  private final boolean tls;
  private volatile @Nullable UnifiedJedis jedis;

  /**
   * Creates the factory.
   *
   * @param url the property {@code spring.data.redis.url}: its scheme {@code rediss} means TLS, and
   *     is nowhere in the details
   */
  DataRedisLockClientFactory(DataRedisConnectionDetails details, @Nullable String url) {
    this.details = details;
    this.tls = url != null && url.startsWith("rediss:") && isOf(url, details.getStandalone());
  }

  /** A service connection takes the place of the properties, and may have no TLS. */
  private static boolean isOf(String url, @Nullable Standalone standalone) {
    return standalone == null || standalone.getHost().equals(URI.create(url).getHost());
  }

  @Override
  public LockClient create(LockOptions options) {
    Sentinel sentinel = details.getSentinel();
    SslBundle bundle = details.getSslBundle();
    boolean uriSuffices = bundle == null && (sentinel == null || isEmpty(sentinel.getPassword()));
    if (uriSuffices) {
      return LockClient.create(uri(), options);
    }
    UnifiedJedis created = jedis(sentinel, bundle, options);
    jedis = created;
    return LockClient.create(created, options);
  }

  /** Returns the URI of this Redis. It has the password. */
  String uri() {
    String scheme = tls ? "rediss" : "redis";
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

  private Standalone standalone() {
    Standalone standalone = details.getStandalone();
    if (standalone == null) {
      throw new IllegalStateException(
          "locks need one server, sentinels or a cluster, and spring.data.redis names static"
              + " replicas; set mortise.redis.uri to the master");
    }
    return standalone;
  }

  private String credentials() {
    String password = details.getPassword();
    if (password == null || password.isEmpty()) {
      return "";
    }
    String user = details.getUsername();
    return encoded(user == null ? "" : user) + ":" + encoded(password) + "@";
  }

  private static boolean isEmpty(@Nullable String text) {
    return text == null || text.isEmpty();
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

  private UnifiedJedis jedis(
      @Nullable Sentinel sentinel, @Nullable SslBundle bundle, LockOptions options) {
    if (sentinel != null) {
      return RedisSentinelClient.builder()
          .masterName(sentinel.getMaster())
          .sentinels(addresses(sentinel.getNodes()))
          .sentinelClientConfig(
              config(bundle, options)
                  .user(sentinel.getUsername())
                  .password(sentinel.getPassword())
                  .build())
          .clientConfig(master(bundle, options).database(sentinel.getDatabase()).build())
          .build();
    }
    Cluster cluster = details.getCluster();
    if (cluster != null) {
      return RedisClusterClient.builder()
          .nodes(addresses(cluster.getNodes()))
          .clientConfig(master(bundle, options).build())
          .build();
    }
    Standalone standalone = standalone();
    JedisClientConfig config = master(bundle, options).database(standalone.getDatabase()).build();
    return RedisClient.builder()
        .hostAndPort(standalone.getHost(), standalone.getPort())
        .clientConfig(config)
        .build();
  }

  private DefaultJedisClientConfig.Builder master(@Nullable SslBundle bundle, LockOptions options) {
    return config(bundle, options).user(details.getUsername()).password(details.getPassword());
  }

  @SuppressWarnings("deprecation") // what replaces it takes files, and a bundle has none
  private DefaultJedisClientConfig.Builder config(@Nullable SslBundle bundle, LockOptions options) {
    DefaultJedisClientConfig.Builder config =
        DefaultJedisClientConfig.builder()
            .timeoutMillis(Math.toIntExact(options.commandTimeout().toMillis()));
    if (bundle == null) {
      return tls ? config.ssl(true).sslOptions(SslOptions.defaults()) : config;
    }
    return config.ssl(true).sslSocketFactory(bundle.createSslContext().getSocketFactory());
  }

  private static Set<HostAndPort> addresses(List<Node> nodes) {
    return nodes.stream()
        .map(node -> new HostAndPort(node.host(), node.port()))
        .collect(Collectors.toSet());
  }

  /** Closes the connections; Spring calls it after the client that uses them. */
  @Override
  public void close() {
    UnifiedJedis created = jedis;
    if (created != null) {
      created.close();
    }
  }
}
