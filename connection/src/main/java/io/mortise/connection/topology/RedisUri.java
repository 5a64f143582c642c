package io.mortise.connection.topology;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.common.net.InetAddresses;
import io.mortise.connection.pool.ConnectionSettings.Security;
import io.mortise.connection.pool.ConnectionSettings.Tls;
import java.net.URLDecoder;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisProtocol;
import redis.clients.jedis.SslOptions;

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
 * @param tls whether the scheme is with rediss
 * @param credentials user and password, still encoded; null if there are none
 * @param hosts the server, the sentinels, or the nodes of the cluster
 * @param protocol null if the URI leaves it to the client and the server
 * @param masterName the name of the master; empty without sentinels
 */
record RedisUri(
    Kind kind,
    boolean tls,
    @Nullable String credentials,
    Set<HostAndPort> hosts,
    int database,
    @Nullable RedisProtocol protocol,
    String masterName) {
  enum Kind {
    SINGLE,
    CLUSTER,
    SENTINEL
  }

  private static final int DEFAULT_PORT = 6379;
  private static final int SENTINEL_PORT = 26379;
  private static final int MAX_PORT = 65_535;

  /** Scheme, kind, credentials, hosts, path, query, and the master behind a #. */
  private static final Pattern URI_PARTS =
      Pattern.compile(
          "(?i)(rediss?)(-sentinel|-cluster)?://(?:([^@/]*)@)?([^/?#]*)(/[^?#]*)?(?:\\?([^#]*))?(?:#(.*))?");

  /** Characters that may stand for themselves in a URI's user and password, and %XX. */
  private static final Pattern CREDENTIALS =
      Pattern.compile("(?:[^\\p{Cc}\\p{Z}/?#@\\[\\]%\"<>\\\\^`{|}]|%[0-9A-Fa-f]{2})*");

  /** A name, an IPv4 address, or an IPv6 address, which may have a zone; and a port. */
  private static final Pattern SERVER =
      Pattern.compile("([\\w.-]+|\\[[\\dA-Fa-f:.]+(?:%[\\w.]+)?])(?::(\\d{0,9}))?");

  private static final String LABEL = "[A-Za-z\\d](?:[A-Za-z\\d-]*[A-Za-z\\d])?";

  /** A name, whose last label begins with no digit if it has several, or one with underscores. */
  private static final Pattern NAME =
      Pattern.compile(
          "(?!.*\\.\\d[^.]*\\.?$)(?:%1$s\\.)*%1$s\\.?|(?=.*_)[\\w-]+(?:\\.[\\w-]+)*"
              .formatted(LABEL));

  /** Parses a URI; throws an {@link IllegalArgumentException} if it is none of these. */
  static RedisUri parse(String text) {
    refuseRawCredentials(text);
    Matcher parts = URI_PARTS.matcher(text);
    if (!parts.matches()) {
      throw text.matches("(?is)rediss?(-sentinel|-cluster)?:.*") ? noHost() : noRedisScheme(text);
    }
    Kind kind = kind(parts);
    String masterName = part(parts, 7);
    if (kind != Kind.SENTINEL) {
      refuseFragment(masterName);
    }
    Set<HostAndPort> hosts = new LinkedHashSet<>();
    for (String server : part(parts, 4).split(",", -1)) {
      hosts.add(server(server, kind == Kind.SENTINEL ? SENTINEL_PORT : DEFAULT_PORT));
    }
    int database = database(kind, part(parts, 5));
    RedisProtocol protocol = protocol(parts.group(6));
    if (kind == Kind.SENTINEL && masterName.isBlank()) {
      throw new IllegalArgumentException(
          "the URI of sentinels ends with '#' and the name of the master that they watch");
    }
    boolean tls = part(parts, 1).equalsIgnoreCase("rediss");
    return new RedisUri(kind, tls, parts.group(3), hosts, database, protocol, masterName);
  }

  private static Kind kind(Matcher parts) {
    if (part(parts, 2).equalsIgnoreCase("-sentinel")) {
      return Kind.SENTINEL;
    }
    return part(parts, 2).isEmpty() && !part(parts, 4).contains(",") ? Kind.SINGLE : Kind.CLUSTER;
  }

  private static HostAndPort server(String text, int defaultPort) {
    Matcher server = SERVER.matcher(text);
    if (!server.matches() || !isHost(part(server, 1))) {
      throw noHost();
    }
    String digits = part(server, 2);
    int port = digits.isEmpty() ? defaultPort : Integer.parseInt(digits);
    if (port == 0 || port > MAX_PORT) {
      throw new IllegalArgumentException(
          "the port of a Redis URI is from 1 to %d, not %d".formatted(MAX_PORT, port));
    }
    return new HostAndPort(part(server, 1), port);
  }

  private static boolean isHost(String text) {
    return NAME.matcher(text).matches()
        || InetAddresses.isUriInetAddress(text.replaceFirst("%.*]", "]"));
  }

  private static int database(Kind kind, String path) {
    if (!path.matches("/?|/\\d{1,4}")) {
      throw new IllegalArgumentException(
          "the path of a Redis URI is the number of a database, not '" + path + "'");
    }
    if (kind == Kind.CLUSTER && !path.matches("/?0?")) {
      throw new IllegalArgumentException(
          "a Redis Cluster has the database 0 alone, not '%s'".formatted(path));
    }
    return path.length() < 2 ? 0 : Integer.parseInt(path.substring(1));
  }

  /** Refuses the parameters of other clients, which would have no effect here. */
  private static @Nullable RedisProtocol protocol(@Nullable String query) {
    if (query == null) {
      return null;
    }
    for (String parameter : query.split("&", -1)) {
      if (!parameter.matches("protocol=[23]")) {
        String name = parameter.replaceFirst("=.*", "");
        throw new IllegalArgumentException(
            "the query of a Redis URI is protocol=2 or protocol=3%s; other settings are in LockOptions"
                .formatted(name.matches("[A-Za-z_]+") ? ", not '" + name + "'" : ""));
      }
    }
    return query.startsWith("protocol=2") ? RedisProtocol.RESP2 : RedisProtocol.RESP3;
  }

  private static String part(Matcher parts, int group) {
    String part = parts.group(group);
    return part == null ? "" : part;
  }

  /** Refuses credentials, up to the last @, with a character that ends them for a parser. */
  private static void refuseRawCredentials(String text) {
    int to = text.lastIndexOf('@');
    int scheme = text.indexOf("://");
    int from = scheme < 0 || scheme > to ? 0 : scheme + 3;
    if (to >= 0 && !CREDENTIALS.matcher(text.substring(from, to)).matches()) {
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

  private static IllegalArgumentException noHost() {
    return new IllegalArgumentException(
        "not a URI like redis://user:password@host:6379/0: the Redis URI names no host, or one with"
            + " a character that no host name has, or a port that is no number; an IPv6 address is"
            + " in brackets, an IPv4 address has no leading zeros, and no line ends in the URI");
  }

  /** Names the scheme, unless that may be a user. */
  private static IllegalArgumentException noRedisScheme(String text) {
    Matcher scheme = Pattern.compile("(?s)([A-Za-z][A-Za-z\\d+.-]*:)[^@]*").matcher(text);
    return new IllegalArgumentException(
        "a Redis URI starts with redis://, redis-cluster:// or redis-sentinel://, or with rediss"
            + " for TLS"
            + (scheme.matches() ? ", not with '" + part(scheme, 1) + "'" : ""));
  }

  /** Returns the settings of the servers with the keys; refuses security without an effect. */
  DefaultJedisClientConfig.Builder config(Security security) {
    refuseUseless(security);
    refuseUnderscoresWithTls();
    DefaultJedisClientConfig.Builder config = withTls(security.tls()).database(database);
    authenticate(config);
    if (protocol != null) {
      config.protocol(protocol);
    }
    return config;
  }

  /** Sets user and password, each decoded by itself: a decoded user may have a colon. */
  private void authenticate(DefaultJedisClientConfig.Builder config) {
    if (credentials == null) {
      return;
    }
    int colon = credentials.indexOf(':');
    if (colon < 0) {
      throw new IllegalArgumentException(
          "the Redis URI names a user without a password; with a password alone, it is"
              + " redis://:password@host:6379/0");
    }
    config
        .user(colon == 0 ? null : decoded(credentials.substring(0, colon)))
        .password(decoded(credentials.substring(colon + 1)));
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
  private DefaultJedisClientConfig.Builder withTls(@Nullable Tls given) {
    DefaultJedisClientConfig.Builder config = DefaultJedisClientConfig.builder();
    if (!tls) {
      return config;
    }
    return given == null
        ? config.sslOptions(SslOptions.defaults())
        : config
            .ssl(true)
            .sslSocketFactory(given.context().getSocketFactory())
            .sslParameters(given.parameters());
  }

  private void refuseUseless(Security security) {
    if (security.tls() != null && !tls) {
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
      if (tls && server.getHost().contains("_")) {
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
}
