package io.mortise.core.internal;

import io.mortise.core.LockOptions;
import java.net.URI;
import java.net.URISyntaxException;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.util.JedisURIHelper;

/** Makes a node of what the user gave: a URI, or a Jedis client. */
final class Connector {
  private static final int DEFAULT_PORT = 6379;
  private static final int MOST_PORT = 65_535;

  private Connector() {}

  /** A node with a pool of its own, from {@code redis[s]://[[user]:password@]host[:port][/db]}. */
  static RedisNode node(String text, LockOptions options) {
    URI uri = parse(text);
    HostAndPort server =
        new HostAndPort(uri.getHost(), uri.getPort() < 0 ? DEFAULT_PORT : uri.getPort());
    int timeoutMillis = Math.toIntExact(options.commandTimeout().toMillis());
    DefaultJedisClientConfig.Builder config =
        DefaultJedisClientConfig.builder()
            .timeoutMillis(timeoutMillis)
            .user(JedisURIHelper.getUser(uri))
            .password(JedisURIHelper.getPassword(uri))
            .database(JedisURIHelper.getDBIndex(uri));
    if (JedisURIHelper.isRedisSSLScheme(uri)) {
      config.sslOptions(SslOptions.defaults());
    }
    if (JedisURIHelper.getRedisProtocol(uri) != null) {
      config.protocol(JedisURIHelper.getRedisProtocol(uri));
    }
    return new RedisNode(server.toString(), new OwnConnections(server, config.build(), options));
  }

  /** A node on the pool of a client that the user made, and closes. */
  static RedisNode node(UnifiedJedis jedis, Workers workers) {
    if (jedis instanceof RedisClient client) {
      return new RedisNode(
          "the server of RedisClient@" + Integer.toHexString(System.identityHashCode(client)),
          new GivenConnections(client, workers));
    }
    throw new IllegalArgumentException(
        "a LockClient is made from a redis.clients.jedis.RedisClient or from a URI, not from a "
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
