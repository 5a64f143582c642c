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

/**
 * Provides the present pool of a Jedis client of the user.
 *
 * <p><b>Threads.</b> Any thread may call every method; the Jedis clients are thread-safe.
 */
public interface JedisPoolProvider {

  /** Returns the pool, for which a command may be needed; throws if there is none. */
  Pool<Connection> pool();

  /** Returns the pool without sending anything; null when it is not known. */
  default @Nullable Pool<Connection> poolIfKnown() {
    return pool();
  }

  /** Returns the name of the server for messages; it may change before the pool does. */
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

  /** A client for the master of sentinels; a failover replaces its pool. */
  record Sentinel(RedisSentinelClient client) implements JedisPoolProvider {
    @Override
    public Pool<Connection> pool() {
      Pool<Connection> pool = poolIfKnown();
      if (pool == null) {
        throw new JedisConnectionException("the sentinels name no master");
      }
      return pool;
    }

    @Override
    @SuppressWarnings("unchecked")
    public @Nullable Pool<Connection> poolIfKnown() {
      Map<?, Pool<Connection>> masters =
          (Map<?, Pool<Connection>>) client.getPrimaryNodesConnectionMap();
      return masters.values().stream().findFirst().orElse(null);
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
