package io.mortise.connection.topology;

import static com.google.common.util.concurrent.Uninterruptibles.sleepUninterruptibly;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.ConnectionPool;
import io.mortise.connection.pool.LazyConnectionPool;
import io.mortise.connection.testing.FakeCluster;
import io.mortise.connection.testing.TestSettings;
import java.net.SocketTimeoutException;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** A node that leaves its cluster while a thread connects to it, until the thread's time is up. */
@Timeout(60)
class DepartedNodeTest {
  private static final long TIME_NANOS = 200_000_000L;

  private final FakeCluster fake = new FakeCluster(2);
  private final WorkerPool workers = new WorkerPool("test");
  private final HostAndPort departing = HostAndPort.from(fake.node(0).address());
  private final ClusterNodes nodes =
      new ClusterNodes(Set.of(HostAndPort.from(fake.node(1).address())), this::connections);
  private final SlotMapCache slotMap =
      new SlotMapCache(
          nodes, workers, TestSettings.DEFAULTS.ticker(), TestSettings.DEFAULTS.random());
  private final ClusterRouter router = new ClusterRouter(nodes, slotMap);
  private volatile boolean departs;

  @AfterEach
  void close() {
    nodes.close();
    workers.close();
    fake.close();
  }

  private ConnectionPool connections(HostAndPort address) {
    ConnectionPool pool =
        new LazyConnectionPool(
            address, DefaultJedisClientConfig.builder().build(), TestSettings.DEFAULTS);
    return address.equals(departing) ? new DepartingPool(pool) : pool;
  }

  /** From that moment on each connecting takes all the time, in which the node leaves. */
  private final class DepartingPool implements ConnectionPool {
    private final ConnectionPool pool;

    DepartingPool(ConnectionPool pool) {
      this.pool = pool;
    }

    @Override
    public PooledConnection borrow(Deadline deadline) throws InterruptedException {
      if (!departs) {
        return pool.borrow(deadline);
      }
      fake.tell(1, 1);
      slotMap.refresh();
      while (!deadline.hasPassed()) {
        sleepUninterruptibly(deadline.leftNanos(), TimeUnit.NANOSECONDS);
      }
      throw new JedisConnectionException(new SocketTimeoutException("connect timed out"));
    }

    @Override
    public Connection connect(Deadline deadline) {
      return pool.connect(deadline);
    }

    @Override
    public int maxConnections() {
      return pool.maxConnections();
    }

    @Override
    public int inUse() {
      return pool.inUse();
    }

    @Override
    public boolean isClosed() {
      return pool.isClosed();
    }

    @Override
    public void close() {
      pool.close();
    }
  }

  private CommandException failure() {
    return assertThrows(
        CommandException.class,
        () ->
            router.exchange(0, (connection, deadline) -> "", TestSettings.after(TIME_NANOS), true));
  }

  /** Otherwise the wait for a lock would end, as if the user had closed the client. */
  @Test
  void theFailureIsTransientWhileTheClientIsOpen() {
    slotMap.refresh();
    departs = true;

    CommandException fault = failure();

    assertEquals(Kind.UNREACHABLE, fault.kind());
    assertTrue(fault.isTimeOut(), fault::toString);
    assertEquals(departing + " has left the " + nodes, fault.getMessage());
  }

  @Test
  void aClosedClientIsTold() {
    slotMap.refresh();
    nodes.close();

    assertEquals(Kind.CLIENT_CLOSED, failure().kind());
  }
}
