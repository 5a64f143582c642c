package io.mortise.core.internal;

import io.mortise.core.LockOptions;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.util.JedisURIHelper;

/** Makes a node of what the user gave: a URI, or a Jedis client. */
final class Connector {
  private static final int DEFAULT_PORT = 6379;
  private static final int SENTINEL_PORT = 26379;
  private static final int MOST_PORT = 65_535;

  /** Scheme, credentials with their @, hosts, path, query, and the master behind a #. */
  private static final Pattern SENTINEL =
      Pattern.compile(
          "(?i)(rediss?)-sentinel://([^@/]*@)?([^/?#]*)(/[^?#]*)?(\\?[^#]*)?(?:#(.*))?");

  private Connector() {}

  /**
   * A node with connections of its own.
   *
   * @param text {@code redis[s]://[[user]:password@]host[:port][/db]} for one server, {@code
   *     redis[s]-sentinel://[[user]:password@]host[:port],host[:port]...[/db]#master} for the
   *     master that those sentinels name
   */
  static RedisNode node(String text, LockOptions options) {
    Matcher sentinel = SENTINEL.matcher(text);
    if (sentinel.matches()) {
      return sentinelNode(sentinel, options);
    }
    URI uri = parse(text);
    HostAndPort server = server(uri, DEFAULT_PORT);
    return new RedisNode(
        server.toString(), new OwnConnections(server, config(uri, options), options));
  }

  private static RedisNode sentinelNode(Matcher parts, LockOptions options) {
    String scheme = parts.group(1) + "://";
    String[] hosts = parts.group(3).split(",", -1);
    URI whole = parse(scheme + part(parts, 2) + hosts[0] + part(parts, 4) + part(parts, 5));
    Set<HostAndPort> sentinels = new LinkedHashSet<>();
    for (String host : hosts) {
      sentinels.add(server(parse(scheme + host), SENTINEL_PORT));
    }
    String master = part(parts, 6);
    if (master.isBlank()) {
      throw new IllegalArgumentException(
          "the URI of sentinels ends with '#' and the name of the master that they watch");
    }
    SentinelConnections connections =
        new SentinelConnections(
            master, sentinels, config(whole, options), sentinelConfig(whole, options), options);
    return new RedisNode(
        "the master '%s' of sentinels %s".formatted(master, sentinels), connections);
  }

  private static String part(Matcher parts, int group) {
    String part = parts.group(group);
    return part == null ? "" : part;
  }

  private static HostAndPort server(URI uri, int defaultPort) {
    return new HostAndPort(uri.getHost(), uri.getPort() < 0 ? defaultPort : uri.getPort());
  }

  private static JedisClientConfig config(URI uri, LockOptions options) {
    DefaultJedisClientConfig.Builder config =
        reach(uri, options)
            .user(JedisURIHelper.getUser(uri))
            .password(JedisURIHelper.getPassword(uri))
            .database(JedisURIHelper.getDBIndex(uri));
    if (JedisURIHelper.getRedisProtocol(uri) != null) {
      config.protocol(JedisURIHelper.getRedisProtocol(uri));
    }
    return config.build();
  }

  /** Sentinels have no databases, and users of their own. */
  private static JedisClientConfig sentinelConfig(URI uri, LockOptions options) {
    return reach(uri, options).build();
  }

  private static DefaultJedisClientConfig.Builder reach(URI uri, LockOptions options) {
    DefaultJedisClientConfig.Builder config =
        DefaultJedisClientConfig.builder()
            .timeoutMillis(Math.toIntExact(options.commandTimeout().toMillis()));
    if (JedisURIHelper.isRedisSSLScheme(uri)) {
      config.sslOptions(SslOptions.defaults());
    }
    return config;
  }

  /** A node on the pool of a client that the user made, and closes. */
  static RedisNode node(UnifiedJedis jedis, Workers workers) {
    String name =
        jedis.getClass().getSimpleName()
            + "@"
            + Integer.toHexString(System.identityHashCode(jedis));
    if (jedis instanceof RedisClient client) {
      return new RedisNode(
          "the server of " + name, new GivenConnections(new GivenPool.OneServer(client), workers));
    }
    if (jedis instanceof RedisSentinelClient client) {
      return new RedisNode(
          "the master of " + name,
          new GivenConnections(new GivenPool.OfSentinels(client), workers));
    }
    throw new IllegalArgumentException(
        "a LockClient is made from a redis.clients.jedis.RedisClient, a RedisSentinelClient or a"
            + " URI, not from a "
            + jedis.getClass().getName());
  }

  private static URI parse(String text) {
    URI uri;
    try {
      uri = new URI(text);
    } catch (URISyntaxException e) {
      // Not as the cause: its message repeats the whole text, with the password.
      throw new IllegalArgumentException(
          "not a URI like redis://user:password@host:6379/0: %s at index %d"
              .formatted(e.getReason(), e.getIndex()));
    }
    if (!JedisURIHelper.isRedisScheme(uri) && !JedisURIHelper.isRedisSSLScheme(uri)) {
      throw new IllegalArgumentException(
          "a Redis URI starts with redis:// or rediss://"
              + (uri.getScheme() == null ? "" : ", not with '" + uri.getScheme() + ":'"));
    }
    if (uri.getHost() == null) {
      throw new IllegalArgumentException(
          "the Redis URI names no host, or one with a character that no host name in a URI has,"
              + " such as '_'");
    }
    if (uri.getPort() == 0 || uri.getPort() > MOST_PORT) {
      throw new IllegalArgumentException(
          "the port of a Redis URI is from 1 to %d, not %d".formatted(MOST_PORT, uri.getPort()));
    }
    String path = uri.getPath() == null ? "" : uri.getPath();
    if (!path.matches("/?|/\\d{1,4}")) {
      throw new IllegalArgumentException(
          "the path of a Redis URI is the number of a database, not '" + path + "'");
    }
    return uri;
  }
}
