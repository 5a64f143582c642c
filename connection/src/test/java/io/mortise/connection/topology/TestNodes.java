package io.mortise.connection.topology;

import io.mortise.connection.pool.ConnectionPool;
import io.mortise.connection.pool.ConnectionSettings;
import io.mortise.connection.pool.LazyConnectionPool;
import io.mortise.connection.testing.RespServer;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;

/** Nodes of a scripted server. */
final class TestNodes {
  private TestNodes() {}

  /** Returns a node with connections of its own, and no password. */
  static RedisNode at(RespServer server, ConnectionSettings settings) {
    return new RedisNode(server.address(), connections(server, settings));
  }

  /** Returns connections without a password. */
  static ConnectionPool connections(RespServer server, ConnectionSettings settings) {
    return new LazyConnectionPool(
        HostAndPort.from(server.address()), DefaultJedisClientConfig.builder().build(), settings);
  }
}
