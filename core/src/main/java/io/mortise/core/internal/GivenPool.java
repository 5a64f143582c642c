package io.mortise.core.internal;

import java.util.Map;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.Pool;

/** The pool of a Jedis client of the user's, as it is at this moment. */
interface GivenPool {

  Pool<Connection> now();

  /** What is behind the pool: another answer than before means another server. */
  Object server();

  /** A client for one server. */
  record OneServer(RedisClient client) implements GivenPool {
    @Override
    public Pool<Connection> now() {
      return client.getPool();
    }

    @Override
    public Object server() {
      return client;
    }
  }

  /** A client for the master that sentinels name; a failover replaces its pool. */
  record OfSentinels(RedisSentinelClient client) implements GivenPool {
    @Override
    @SuppressWarnings("unchecked")
    public Pool<Connection> now() {
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
}
