package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.ConnectionPool;
import io.mortise.connection.pool.ConnectionPool.PooledConnection;
import io.mortise.connection.pool.JedisConnectionPool;
import io.mortise.connection.pool.JedisPoolProvider;
import io.mortise.connection.pool.LazyConnectionPool;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/**
 * After one connection broke, a repetition must not get one that broke with it: neither one that
 * was idle, nor one that another thread had in use, and gives back later.
 */
@Timeout(60)
class SoftEvictionTest {
  private final RespServer server = new RespServer(command -> "+PONG\r\n");
  private final WorkerPool workers = new WorkerPool("test");
  private final RedisClient jedis =
      RedisClient.builder().hostAndPort(HostAndPort.from(server.address())).build();

  @AfterEach
  void close() {
    jedis.close();
    workers.close();
    server.close();
  }

  private ConnectionPool pool(boolean ofJedis) {
    return ofJedis
        ? new JedisConnectionPool(new JedisPoolProvider.Standalone(jedis), workers)
        : new LazyConnectionPool(
            HostAndPort.from(server.address()),
            DefaultJedisClientConfig.builder().build(),
            TestSettings.DEFAULTS);
  }

  private static PooledConnection borrow(ConnectionPool pool) throws InterruptedException {
    return pool.borrow(TestSettings.after(20_000_000_000L));
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void noConnectionOfThatMomentIsLentAgain(boolean ofJedis) throws Exception {
    try (ConnectionPool pool = pool(ofJedis)) {
      PooledConnection idle = borrow(pool);
      PooledConnection inUse = borrow(pool);
      idle.giveBack(true);

      pool.softEvict();
      inUse.giveBack(true);

      Connection next = borrow(pool).connection();
      assertNotSame(idle.connection(), next);
      assertNotSame(inUse.connection(), next);
      assertEquals(1, pool.inUse());
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aLaterConnectionIsLentAgain(boolean ofJedis) throws Exception {
    try (ConnectionPool pool = pool(ofJedis)) {
      pool.softEvict();
      PooledConnection first = borrow(pool);
      first.giveBack(true);
      PooledConnection second = borrow(pool);

      assertSame(first.connection(), second.connection());
    }
  }
}
