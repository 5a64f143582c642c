package io.mortise.connection.pool;

import java.util.Map;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.Pool;

/** The pool of a Jedis client of the user's, as it is at this moment. */
public interface JedisPoolProvider {

  /**
   * The pool, which may have to be asked for.
   *
   * @throws JedisConnectionException if there is none
   */
  Pool<Connection> pool();

  /** The same without asking anybody; null when there is none. */
  default @Nullable Pool<Connection> poolIfKnown() {
    return pool();
  }

  /** What is behind the pool: another answer than before means another server. */
  Object server();

  /** A client for one server. */
  record Standalone(RedisClient client) implements JedisPoolProvider {
    @Override
    public Pool<Connection> pool() {
      return client.getPool();
    }

    @Override
    public Object server() {
      return client;
    }
  }

  /** A client for the master that sentinels name; a failover replaces its pool. */
  record Sentinel(RedisSentinelClient client) implements JedisPoolProvider {
    @Override
    @SuppressWarnings("unchecked")
    public Pool<Connection> pool() {
      Map<?, Pool<Connection>> masters =
          (Map<?, Pool<Connection>>) client.getPrimaryNodesConnectionMap();
      return masters.values().stream()
          .findFirst()
          .orElseThrow(() -> new JedisConnectionException("the sentinels name no master"));
    }

    @Override
    public Object server() {
      HostAndPort master = client.getCurrentMaster();
      return master == null ? client : master;
    }
  }

  /** One node of a client for a cluster, which makes a pool for each node that it has seen. */
  record ClusterNode(RedisClusterClient client, HostAndPort address) implements JedisPoolProvider {
    @Override
    public Pool<Connection> pool() {
      Pool<Connection> pool = poolIfKnown();
      if (pool == null) {
        client.refreshClusterTopology();
        pool = poolIfKnown();
      }
      if (pool == null) {
        throw new JedisConnectionException(
            "the Jedis client knows no node %s; locks cannot use a HostAndPortMapper"
                .formatted(address));
      }
      return pool;
    }

    @Override
    public @Nullable Pool<Connection> poolIfKnown() {
      return client.getClusterNodes().get(address.toString());
    }

    @Override
    public Object server() {
      return address;
    }
  }
}
