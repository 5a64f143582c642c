package io.mortise.connection.pool;

import io.mortise.connection.concurrent.WorkerPool;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.Pool;

/** The connections of a Jedis client that the user made, and closes. */
public final class JedisConnectionPool implements ConnectionPool {
  private static final Logger LOG = LoggerFactory.getLogger(JedisConnectionPool.class);

  private final JedisPoolProvider given;
  private final WorkerPool workers;
  private BiConsumer<Object, Object> changed = (former, now) -> {};

  /** The scheduler's thread's alone. */
  private @Nullable Object known;

  public JedisConnectionPool(JedisPoolProvider given, WorkerPool workers) {
    this.given = given;
    this.workers = workers;
  }

  @Override
  public ConnectionPool.PooledConnection borrow(long deadlineNanos) throws InterruptedException {
    Pool<Connection> pool = given.pool();
    GivenLoan loan = new GivenLoan(pool);
    try {
      loan.connection =
          pool.borrowObject(Duration.ofNanos(Math.max(1, deadlineNanos - System.nanoTime())));
      return loan;
    } catch (InterruptedException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new JedisConnectionException("connecting failed", e);
    }
  }

  /** Made before its connection is borrowed, so that nothing can fail in between. */
  private final class GivenLoan implements ConnectionPool.PooledConnection {
    private final Pool<Connection> pool;
    private @Nullable Connection connection;

    GivenLoan(Pool<Connection> pool) {
      this.pool = pool;
    }

    @Override
    public Connection connection() {
      Connection lent = connection;
      if (lent == null) {
        throw new IllegalStateException("it was not lent");
      }
      return lent;
    }

    /**
     * A broken one is given back by a worker: the pool may connect anew at that moment, for
     * somebody who waits. On this thread when there is no worker, as after the close.
     */
    @Override
    public void giveBack(boolean reusable) {
      Connection lent = connection();
      if (reusable) {
        pool.returnObject(lent);
        return;
      }
      boolean taken = false;
      try {
        taken = workers.tryRun(() -> invalidate(pool, lent));
      } finally {
        if (!taken) {
          invalidate(pool, lent);
        }
      }
    }
  }

  private static void invalidate(Pool<Connection> pool, Connection connection) {
    try {
      pool.invalidateObject(connection);
    } catch (Exception e) {
      LOG.debug("a broken connection could not be given back", e);
    }
  }

  @Override
  public Connection connect() {
    try {
      return given.pool().getFactory().makeObject().getObject();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new JedisConnectionException("connecting failed", e);
    }
  }

  @Override
  public boolean canFailOver() {
    return given instanceof JedisPoolProvider.Sentinel;
  }

  @Override
  public void onChange(BiConsumer<Object, Object> action) {
    changed = action;
  }

  /** At what the user's client knows; asks nobody. */
  @Override
  public void checkForFailover(boolean inUse) {
    Object before = known;
    Object now = given.server();
    known = now;
    if (before != null && !before.equals(now)) {
      changed.accept(before, now);
    }
  }

  @Override
  public void dropIdle() {
    Pool<Connection> pool = given.poolIfKnown();
    if (pool != null) {
      pool.clear();
    }
  }

  @Override
  public int inUse() {
    Pool<Connection> pool = given.poolIfKnown();
    return pool == null ? 0 : pool.getNumActive();
  }

  @Override
  public boolean isClosed() {
    Pool<Connection> pool = given.poolIfKnown();
    return pool != null && pool.isClosed();
  }

  @Override
  public void close() {
    // The client is the user's, and so is its pool.
  }
}
