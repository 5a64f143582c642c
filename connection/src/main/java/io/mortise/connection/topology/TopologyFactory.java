package io.mortise.connection.topology;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.JedisConnectionPool;
import io.mortise.connection.pool.JedisPoolProvider;
import io.mortise.connection.pool.LazyConnectionPool;
import io.mortise.connection.pool.SentinelConnection;
import io.mortise.connection.pool.SentinelConnectionPool;
import io.mortise.connection.pool.SentinelMonitor;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.SslOptions;
import redis.clients.jedis.UnifiedJedis;
import redis.clients.jedis.util.JedisURIHelper;

/** Makes the topology from a URI, or from a Jedis client of the user. */
public final class TopologyFactory {
  private static final int DEFAULT_PORT = 6379;
  private static final int SENTINEL_PORT = 26379;
  private static final int MAX_PORT = 65_535;

  /** The maximum time-out of a sentinel; after it the next query goes over a new connection. */
  private static final long MAX_SENTINEL_MILLIS = 2_000;

  /**
   * Scheme, the kind of topology, credentials with their @, hosts, path, query, and the master
   * behind a #.
   */
  private static final Pattern URI_PARTS =
      Pattern.compile(
          "(?i)(rediss?)(-sentinel|-cluster)?://([^@/]*@)?([^/?#]*)(/[^?#]*)?(\\?[^#]*)?(?:#(.*))?");

  /** Characters that may stand for themselves in a URI's user and password, and %XX. */
  private static final Pattern CREDENTIALS =
      Pattern.compile("(?:[^\\x00-\\x20/?#@\\[\\]%\"<>\\\\^`{|}]|%[0-9A-Fa-f]{2})*");

  private TopologyFactory() {}

  /**
   * Makes a topology with its own connections.
   *
   * @param text {@code redis[s]://[[user]:password@]host[:port][/db]} for one server; with several
   *     hosts and commas, or {@code redis[s]-cluster://}, for a cluster; {@code
   *     redis[s]-sentinel://[[user]:password@]host[:port],host[:port]...[/db]#master} for the
   *     master that those sentinels name
   */
  public static Topology create(String text, ConnectionSettings settings, WorkerPool workers) {
    refuseRawCredentials(text);
    Matcher parts = URI_PARTS.matcher(text);
    if (parts.matches()) {
      if (part(parts, 2).equalsIgnoreCase("-sentinel")) {
        return new SingleNodeTopology(sentinelNode(parts, settings, workers));
      }
      refuseFragment(part(parts, 7));
      if (!part(parts, 2).isEmpty() || part(parts, 4).contains(",")) {
        return cluster(parts, settings, workers);
      }
    }
    URI uri = parse(text);
    HostAndPort server = server(uri, DEFAULT_PORT);
    return new SingleNodeTopology(
        new RedisNode(
            server.toString(), new LazyConnectionPool(server, config(uri, settings), settings)));
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

  private static ClusterTopology cluster(
      Matcher parts, ConnectionSettings settings, WorkerPool workers) {
    URI uri = firstHost(parts);
    if (uri.getPath() != null && !uri.getPath().matches("/?0?")) {
      throw new IllegalArgumentException(
          "a Redis Cluster has the database 0 alone, not '%s'".formatted(uri.getPath()));
    }
    JedisClientConfig config = config(uri, settings);
    return new ClusterTopology(
        new ClusterNodes(
            hosts(parts, DEFAULT_PORT), node -> new LazyConnectionPool(node, config, settings)),
        workers);
  }

  private static RedisNode sentinelNode(
      Matcher parts, ConnectionSettings settings, WorkerPool workers) {
    URI uri = firstHost(parts);
    Set<HostAndPort> addresses = hosts(parts, SENTINEL_PORT);
    String master = part(parts, 7);
    if (master.isBlank()) {
      throw new IllegalArgumentException(
          "the URI of sentinels ends with '#' and the name of the master that they watch");
    }
    JedisClientConfig config = sentinelConfig(uri, settings);
    List<SentinelConnection> sentinels =
        addresses.stream().map(address -> new SentinelConnection(address, config)).toList();
    return new RedisNode(
        "the master '%s' of sentinels %s".formatted(master, sentinels),
        new SentinelConnectionPool(
            new SentinelMonitor(
                master, sentinels, workers.threads("sentinel"), SentinelMonitor.FORGET_NANOS),
            config(uri, settings),
            settings));
  }

  /** Returns the URI with the first of its hosts alone. */
  private static URI firstHost(Matcher parts) {
    String host = part(parts, 4).split(",", -1)[0];
    return parse(part(parts, 1) + "://" + part(parts, 3) + host + part(parts, 5) + part(parts, 6));
  }

  private static Set<HostAndPort> hosts(Matcher parts, int defaultPort) {
    Set<HostAndPort> hosts = new LinkedHashSet<>();
    for (String host : part(parts, 4).split(",", -1)) {
      hosts.add(server(parse(part(parts, 1) + "://" + host), defaultPort));
    }
    return hosts;
  }

  private static String part(Matcher parts, int group) {
    String part = parts.group(group);
    return part == null ? "" : part;
  }

  private static HostAndPort server(URI uri, int defaultPort) {
    return new HostAndPort(uri.getHost(), uri.getPort() < 0 ? defaultPort : uri.getPort());
  }

  private static JedisClientConfig config(URI uri, ConnectionSettings settings) {
    DefaultJedisClientConfig.Builder config =
        baseConfig(uri, settings)
            .user(JedisURIHelper.getUser(uri))
            .password(JedisURIHelper.getPassword(uri))
            .database(JedisURIHelper.getDBIndex(uri));
    if (JedisURIHelper.getRedisProtocol(uri) != null) {
      config.protocol(JedisURIHelper.getRedisProtocol(uri));
    }
    return config.build();
  }

  /** Returns the configuration for sentinels, which have no databases, and their own users. */
  private static JedisClientConfig sentinelConfig(URI uri, ConnectionSettings settings) {
    int millis = (int) Math.min(MAX_SENTINEL_MILLIS, settings.commandTimeout().toMillis());
    return baseConfig(uri, settings).timeoutMillis(millis).build();
  }

  private static DefaultJedisClientConfig.Builder baseConfig(URI uri, ConnectionSettings settings) {
    DefaultJedisClientConfig.Builder config =
        DefaultJedisClientConfig.builder()
            .timeoutMillis(Math.toIntExact(settings.commandTimeout().toMillis()));
    if (JedisURIHelper.isRedisSSLScheme(uri)) {
      config.sslOptions(SslOptions.defaults());
    }
    return config;
  }

  /** Makes a topology on the connections of a client that the user made, and closes. */
  public static Topology create(
      UnifiedJedis jedis, ConnectionSettings settings, WorkerPool workers) {
    String name =
        jedis.getClass().getSimpleName()
            + "@"
            + Integer.toHexString(System.identityHashCode(jedis));
    if (jedis instanceof RedisClient client) {
      return ofJedisPool(
          "the server of " + name, new JedisPoolProvider.Standalone(client), workers);
    }
    if (jedis instanceof RedisSentinelClient client) {
      return ofJedisPool("the master of " + name, new JedisPoolProvider.Sentinel(client), workers);
    }
    if (jedis instanceof RedisClusterClient client) {
      Set<HostAndPort> seeds = new LinkedHashSet<>();
      client.getClusterNodes().keySet().forEach(node -> seeds.add(HostAndPort.from(node)));
      return new ClusterTopology(
          new ClusterNodes(
              seeds,
              node ->
                  new JedisConnectionPool(
                      new JedisPoolProvider.ClusterNode(client, node), workers)),
          workers);
    }
    throw new IllegalArgumentException(
        "a LockClient is made from a redis.clients.jedis.RedisClient, a RedisSentinelClient, a"
            + " RedisClusterClient or a URI, not from a "
            + jedis.getClass().getName());
  }

  private static Topology ofJedisPool(String name, JedisPoolProvider pool, WorkerPool workers) {
    return new SingleNodeTopology(new RedisNode(name, new JedisConnectionPool(pool, workers)));
  }

  private static URI parse(String text) {
    URI uri;
    try {
      uri = new URI(text);
    } catch (URISyntaxException e) {
      // Without the cause: its message repeats the whole text, with the password.
      throw new IllegalArgumentException(
          "not a URI like redis://user:password@host:6379/0: %s at index %d"
              .formatted(e.getReason(), e.getIndex()));
    }
    if (!JedisURIHelper.isRedisScheme(uri) && !JedisURIHelper.isRedisSSLScheme(uri)) {
      throw new IllegalArgumentException(
          "a Redis URI starts with redis:// or rediss://"
              + (uri.getScheme() == null || text.contains("@")
                  ? ""
                  : ", not with '" + uri.getScheme() + ":'"));
    }
    if (uri.getHost() == null) {
      throw new IllegalArgumentException(
          "the Redis URI names no host, or one with a character that no host name in a URI has,"
              + " such as '_'");
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
    return uri;
  }
}
