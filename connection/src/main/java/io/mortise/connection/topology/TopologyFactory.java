package io.mortise.connection.topology;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.JedisConnectionPool;
import io.mortise.connection.pool.JedisPoolProvider;
import io.mortise.connection.pool.LazyConnectionPool;
import io.mortise.connection.pool.SentinelConnection;
import io.mortise.connection.pool.SentinelConnectionPool;
import io.mortise.connection.pool.SentinelMonitor;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.UnifiedJedis;

/**
 * Makes the topology from a URI, or from a Jedis client of the user.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
public final class TopologyFactory {
  /** The maximum time-out of a sentinel; after it the next query goes over a new connection. */
  private static final long MAX_SENTINEL_MILLIS = 2_000;

  private TopologyFactory() {}

  /**
   * Makes a topology with its own connections, as a {@link RedisUri} describes it.
   *
   * @throws IllegalArgumentException if it is no such URI, or the security does not suit it
   */
  public static Topology create(String text, ConnectionSettings settings, WorkerPool workers) {
    RedisUri uri = RedisUri.parse(text);
    JedisClientConfig config =
        uri.config(settings.security())
            .timeoutMillis(Math.toIntExact(settings.commandTimeout().toMillis()))
            .build();
    return switch (uri.kind()) {
      case SINGLE -> {
        HostAndPort server = uri.hosts().iterator().next();
        yield new SingleNodeTopology(
            new RedisNode(server.toString(), new LazyConnectionPool(server, config, settings)),
            workers);
      }
      case SENTINEL ->
          new SingleNodeTopology(sentinelNode(uri, config, settings, workers), workers);
      case CLUSTER ->
          new ClusterTopology(
              new ClusterNodes(uri.hosts(), node -> new LazyConnectionPool(node, config, settings)),
              workers,
              settings.ticker(),
              settings.random());
    };
  }

  private static RedisNode sentinelNode(
      RedisUri uri, JedisClientConfig config, ConnectionSettings settings, WorkerPool workers) {
    int millis = (int) Math.min(MAX_SENTINEL_MILLIS, settings.commandTimeout().toMillis());
    JedisClientConfig sentinelConfig =
        uri.sentinelConfig(settings.security()).timeoutMillis(millis).build();
    List<SentinelConnection> sentinels =
        uri.hosts().stream()
            .map(address -> new SentinelConnection(address, sentinelConfig))
            .toList();
    SentinelMonitor monitor =
        new SentinelMonitor(
            uri.masterName(), sentinels, workers.threads("sentinel"), settings.ticker());
    return new RedisNode(
        "the master '%s' of sentinels %s".formatted(uri.masterName(), sentinels),
        new SentinelConnectionPool(monitor, config, settings));
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
          workers,
          settings.ticker(),
          settings.random());
    }
    throw new IllegalArgumentException(
        "a LockClient is made from a redis.clients.jedis.RedisClient, a RedisSentinelClient, a"
            + " RedisClusterClient or a URI, not from a "
            + jedis.getClass().getName());
  }

  private static Topology ofJedisPool(String name, JedisPoolProvider pool, WorkerPool workers) {
    return new SingleNodeTopology(
        new RedisNode(name, new JedisConnectionPool(pool, workers)), workers);
  }
}
