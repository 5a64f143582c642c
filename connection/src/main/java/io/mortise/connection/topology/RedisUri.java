package io.mortise.connection.topology;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.mortise.connection.pool.ConnectionSettings.Security;
import io.mortise.connection.pool.ConnectionSettings.Tls;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLDecoder;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.util.JedisURIHelper;

/**
 * A URI that names the servers of a client:
 *
 * <ul>
 *   <li>{@code redis[s]://[[user]:password@]host[:port][/db]} for one server;
 *   <li>the same with several hosts and commas, or {@code redis[s]-cluster://}, for a cluster;
 *   <li>{@code redis[s]-sentinel://[[user]:password@]host[:port],host[:port]...[/db]#master} for
 *       the master that those sentinels name.
 * </ul>
 *
 * <p>Without TLS a host may have underscores, as the names of Docker Compose have. An IPv6 address
 * is in brackets. No message of an exception repeats the credentials.
 *
 * @param first the URI with the first of its hosts alone, for all but that host
 * @param hosts the server, the sentinels, or the nodes of the cluster
 * @param masterName the name of the master; empty without sentinels
 */
record RedisUri(Kind kind, URI first, Set<HostAndPort> hosts, String masterName) {
  enum Kind {
    SINGLE,
    CLUSTER,
    SENTINEL
  }

  private static final int DEFAULT_PORT = 6379;
  private static final int SENTINEL_PORT = 26379;
  private static final int MAX_PORT = 65_535;

  /** Scheme, kind, credentials with their @, hosts, path, query, and the master behind a #. */
  private static final Pattern URI_PARTS =
      Pattern.compile(
          "(?i)(rediss?)(-sentinel|-cluster)?://([^@/]*@)?([^/?#]*)(/[^?#]*)?(\\?[^#]*)?(?:#(.*))?");

  /** Characters that may stand for themselves in a URI's user and password, and %XX. */
  private static final Pattern CREDENTIALS =
      Pattern.compile("(?:[^\\x00-\\x20/?#@\\[\\]%\"<>\\\\^`{|}]|%[0-9A-Fa-f]{2})*");

  /**
   * The three parts of a URI whose host has underscores: the text before the host, the host, and
   * the text behind it. {@code java.net.URI} finds no host in such a URI, and no user and no port.
   * Text before an @ is never the host: the group of the credentials is possessive.
   */
  private static final Pattern UNDERSCORES =
      Pattern.compile(
          "(?i)(rediss?://(?:[^@/?#]*@)?+)((?=[\\w.-]*_)[\\w-]+(?:\\.[\\w-]+)*)([:/?#].*)?");

  /** A URI with one host, whose real name is beside it: the URI may have a placeholder. */
  private record OneHost(URI uri, String host) {
    HostAndPort address(int defaultPort) {
      return new HostAndPort(host, uri.getPort() < 0 ? defaultPort : uri.getPort());
    }
  }

  /** Parses a URI; throws an {@link IllegalArgumentException} if it is none of these. */
  static RedisUri parse(String text) {
    refuseRawCredentials(text);
    Matcher parts = URI_PARTS.matcher(text);
    if (parts.matches()) {
      if (part(parts, 2).equalsIgnoreCase("-sentinel")) {
        return ofSentinels(parts);
      }
      refuseFragment(part(parts, 7));
      if (!part(parts, 2).isEmpty() || part(parts, 4).contains(",")) {
        return ofCluster(parts);
      }
    }
    OneHost server = parsePart(text);
    return new RedisUri(Kind.SINGLE, server.uri(), Set.of(server.address(DEFAULT_PORT)), "");
  }

  private static RedisUri ofCluster(Matcher parts) {
    URI first = firstHost(parts);
    if (first.getPath() != null && !first.getPath().matches("/?0?")) {
      throw new IllegalArgumentException(
          "a Redis Cluster has the database 0 alone, not '%s'".formatted(first.getPath()));
    }
    return new RedisUri(Kind.CLUSTER, first, hosts(parts, DEFAULT_PORT), "");
  }

  private static RedisUri ofSentinels(Matcher parts) {
    URI first = firstHost(parts);
    Set<HostAndPort> addresses = hosts(parts, SENTINEL_PORT);
    String masterName = part(parts, 7);
    if (masterName.isBlank()) {
      throw new IllegalArgumentException(
          "the URI of sentinels ends with '#' and the name of the master that they watch");
    }
    return new RedisUri(Kind.SENTINEL, first, addresses, masterName);
  }

  /** Returns the settings of the servers with the keys; refuses security without an effect. */
  DefaultJedisClientConfig.Builder config(Security security) {
    refuseUseless(security);
    refuseUnderscoresWithTls();
    DefaultJedisClientConfig.Builder config =
        withTls(security.tls()).database(JedisURIHelper.getDBIndex(first));
    authenticate(config);
    if (JedisURIHelper.getRedisProtocol(first) != null) {
      config.protocol(JedisURIHelper.getRedisProtocol(first));
    }
    return config;
  }

  /** Sets user and password, each decoded by itself: a decoded user may have a colon. */
  private void authenticate(DefaultJedisClientConfig.Builder config) {
    String raw = first.getRawUserInfo();
    if (raw == null) {
      return;
    }
    int colon = raw.indexOf(':');
    if (colon < 0) {
      throw new IllegalArgumentException(
          "the Redis URI names a user without a password; with a password alone, it is"
              + " redis://:password@host:6379/0");
    }
    config
        .user(colon == 0 ? null : decoded(raw.substring(0, colon)))
        .password(decoded(raw.substring(colon + 1)));
  }

  private static String decoded(String text) {
    return URLDecoder.decode(text.replace("+", "%2B"), UTF_8); // it takes a + for a space
  }

  /** Returns the same for sentinels, which have no databases, and their own users. */
  DefaultJedisClientConfig.Builder sentinelConfig(Security security) {
    return withTls(security.tls())
        .serverDefaultProtocol() // Jedis negotiates none with a sentinel, and logs a warning of it
        .user(security.sentinelUser())
        .password(security.sentinelPassword());
  }

  @SuppressWarnings("deprecation") // what replaces these takes files, and no context
  private DefaultJedisClientConfig.Builder withTls(@Nullable Tls tls) {
    DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder();
    if (!JedisURIHelper.isRedisSSLScheme(first)) {
      return config;
    }
    return tls == null
        ? config.sslOptions(SslOptions.defaults())
        : config
            .ssl(true)
            .sslSocketFactory(tls.context().getSocketFactory())
            .sslParameters(tls.parameters());
  }

  private void refuseUseless(Security security) {
    if (security.tls() != null && !JedisURIHelper.isRedisSSLScheme(first)) {
      throw new IllegalArgumentException(
          "a context of TLS is for a URI with rediss, and this one has redis");
    }
    if (security.sentinelPassword() != null && kind != Kind.SENTINEL) {
      throw new IllegalArgumentException(
          "a password of sentinels is for a URI of redis-sentinel:// or rediss-sentinel://");
    }
  }

  /** The JVM compares the certificate with the host, and accepts none for a name with '_'. */
  private void refuseUnderscoresWithTls() {
    for (HostAndPort server : hosts) {
      if (JedisURIHelper.isRedisSSLScheme(first) && server.getHost().contains("_")) {
        throw new IllegalArgumentException(
            "no certificate is valid for the host '%s', because its name has '_'; with rediss, give"
                    .formatted(server.getHost())
                + " another name of the host, or its address");
      }
    }
  }

  /** Returns the hosts, without the credentials. */
  @Override
  public String toString() {
    return kind + " " + hosts;
  }

  /** Returns the URI with the first of its hosts alone. */
  private static URI firstHost(Matcher parts) {
    String host = part(parts, 4).split(",", -1)[0];
    return parsePart(
            part(parts, 1) + "://" + part(parts, 3) + host + part(parts, 5) + part(parts, 6))
        .uri();
  }

  private static Set<HostAndPort> hosts(Matcher parts, int defaultPort) {
    Set<HostAndPort> hosts = new LinkedHashSet<>();
    for (String host : part(parts, 4).split(",", -1)) {
      hosts.add(parsePart(part(parts, 1) + "://" + host).address(defaultPort));
    }
    return hosts;
  }

  private static String part(Matcher parts, int group) {
    String part = parts.group(group);
    return part == null ? "" : part;
  }

  /** Refuses credentials, up to the last @, with a character that ends them for a parser. */
  private static void refuseRawCredentials(String text) {
    int from = text.indexOf("://");
    int to = text.lastIndexOf('@');
    if (to >= 0 && !CREDENTIALS.matcher(text.substring(from < 0 ? 0 : from + 3, to)).matches()) {
      throw new IllegalArgumentException(
          "user and password stand percent-encoded in a Redis URI: %25 for '%', %40 for '@', %2F"
              + " for '/', %3F for '?', %23 for '#', %20 for a space");
    }
  }

  private static void refuseFragment(String fragment) {
    if (!fragment.isEmpty()) {
      throw new IllegalArgumentException(
          "a '#' with a name is for the master of sentinels, in a URI of redis-sentinel://");
    }
  }

  /** Refuses the parameters of other clients, which would have no effect here. */
  private static void refuseUnknown(@Nullable String query) {
    for (String parameter : query == null ? new String[0] : query.split("&", -1)) {
      if (!parameter.matches("protocol=[23]")) {
        String name = parameter.replaceFirst("=.*", "");
        throw new IllegalArgumentException(
            "the query of a Redis URI is protocol=2 or protocol=3%s; other settings are in LockOptions"
                .formatted(name.matches("[A-Za-z_]+") ? ", not '" + name + "'" : ""));
      }
    }
  }

  private static OneHost parsePart(String text) {
    Matcher underscores = UNDERSCORES.matcher(text);
    String host = underscores.matches() ? part(underscores, 2) : null;
    URI uri;
    try {
      uri =
          new URI(
              host == null
                  ? text
                  : part(underscores, 1) + "x".repeat(host.length()) + part(underscores, 3));
    } catch (URISyntaxException e) {
      // Without the cause: its message repeats the whole text, with the password.
      throw new IllegalArgumentException(
          "not a URI like redis://user:password@host:6379/0: %s at index %d"
              .formatted(e.getReason(), e.getIndex()));
    }
    if (!JedisURIHelper.isRedisScheme(uri) && !JedisURIHelper.isRedisSSLScheme(uri)) {
      throw new IllegalArgumentException(
          "a Redis URI starts with redis://, redis-cluster:// or redis-sentinel://, or with rediss"
              + " for TLS"
              + (uri.getScheme() == null || text.contains("@")
                  ? ""
                  : ", not with '" + uri.getScheme() + ":'"));
    }
    if (uri.getHost() == null) {
      throw new IllegalArgumentException(
          "the Redis URI names no host, or one with a character that no host name has, or a port"
              + " that is no number; an IPv6 address is in brackets");
    }
    if (uri.getPort() == 0 || uri.getPort() > MAX_PORT) {
      throw new IllegalArgumentException(
          "the port of a Redis URI is from 1 to %d, not %d".formatted(MAX_PORT, uri.getPort()));
    }
    String path = uri.getPath() == null ? "" : uri.getPath();
    if (!path.matches("/?|/\\d{1,4}")) {
      throw new IllegalArgumentException(
          "the path of a Redis URI is the number of a database, not '" + path + "'");
    }
    refuseUnknown(uri.getQuery());
    return new OneHost(uri, host == null ? uri.getHost() : host);
  }
}
