package io.mortise.connection.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.collect.Sets;
import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.ConnectionPool;
import io.mortise.connection.pool.ConnectionPool.PooledConnection;
import io.mortise.connection.pool.JedisConnectionPool;
import io.mortise.connection.pool.JedisPoolProvider;
import io.mortise.connection.pool.LazyConnectionPool;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Connection;
import redis.clients.jedis.ConnectionPoolConfig;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.RedisClient;

/**
 * After one connection broke, a repetition must not get one that broke with it: neither one that
 * was idle, nor one that another thread had in use, and gives back later.
 */
@Timeout(60)
class ConnectionGenerationTest {
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
  void noneOfTheGenerationIsLentAgain(boolean ofJedis) throws Exception {
    try (ConnectionPool pool = pool(ofJedis)) {
      PooledConnection idle = borrow(pool);
      PooledConnection inUse = borrow(pool);
      PooledConnection broken = borrow(pool);
      idle.giveBack(true);

      broken.endGeneration();
      broken.giveBack(false);
      inUse.giveBack(true);

      for (int i = 0; i < 3; i++) {
        Connection next = borrow(pool).connection();
        assertNotSame(idle.connection(), next);
        assertNotSame(inUse.connection(), next);
        assertNotSame(broken.connection(), next);
      }
    }
  }

  /** The last to notice that its connection broke does not cost the others their new ones. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aGenerationEndsOnce(boolean ofJedis) throws Exception {
    try (ConnectionPool pool = pool(ofJedis)) {
      PooledConnection first = borrow(pool);
      PooledConnection last = borrow(pool);
      first.endGeneration();
      first.giveBack(false);
      PooledConnection next = borrow(pool);
      next.giveBack(true);

      last.endGeneration();
      last.giveBack(false);

      Set<Connection> lent = Sets.newIdentityHashSet();
      lent.add(borrow(pool).connection());
      lent.add(borrow(pool).connection()); // the pool of a Jedis client has replaced a broken one
      assertTrue(lent.contains(next.connection()));
    }
  }

  /** The worker that would close it comes late: there is none in this test. */
  @Test
  void aPoolThatDoesNotWaitIsNotFoundExhausted() throws Exception {
    ConnectionPoolConfig one = new ConnectionPoolConfig();
    one.setMaxTotal(1);
    one.setBlockWhenExhausted(false);
    CountDownLatch end = new CountDownLatch(1);
    try (WorkerPool late = new WorkerPool("late", (task, name) -> after(end, task));
        RedisClient small =
            RedisClient.builder()
                .hostAndPort(HostAndPort.from(server.address()))
                .poolConfig(one)
                .build();
        ConnectionPool pool =
            new JedisConnectionPool(new JedisPoolProvider.Standalone(small), late)) {
      PooledConnection broken = borrow(pool);
      broken.endGeneration();
      broken.giveBack(false);

      Connection next = borrow(pool).connection();

      assertNotSame(broken.connection(), next);
    } finally {
      end.countDown();
    }
  }

  private static Thread after(CountDownLatch end, Runnable task) {
    return new Thread(
        () -> {
          Uninterruptibles.awaitUninterruptibly(end);
          task.run();
        });
  }

  /** Those that wait for a connection get the one that is made, one after the other. */
  @Test
  void aThreadThatWaitsBelongsToTheNextGeneration() throws Exception {
    ConnectionPoolConfig one = new ConnectionPoolConfig();
    one.setMaxTotal(1);
    try (RedisClient small =
            RedisClient.builder()
                .hostAndPort(HostAndPort.from(server.address()))
                .poolConfig(one)
                .build();
        ConnectionPool pool =
            new JedisConnectionPool(new JedisPoolProvider.Standalone(small), workers)) {
      PooledConnection broken = borrow(pool);
      List<BackgroundCall<Connection>> waiting = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        waiting.add(
            BackgroundCall.startAndPark(
                () -> {
                  PooledConnection lent = borrow(pool);
                  Connection connection = lent.connection();
                  lent.giveBack(true);
                  return connection;
                }));
      }

      broken.endGeneration();
      broken.giveBack(false);

      Set<Connection> lent = Sets.newIdentityHashSet();
      for (BackgroundCall<Connection> each : waiting) {
        lent.add(each.get());
      }
      assertEquals(1, lent.size());
    }
  }
}
