package io.mortise.connection.pool;

import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.Pool;

/**
 * The connections of a Jedis client that the user made, and closes.
 *
 * <p><b>Threads.</b> Any thread may call every method but {@code checkForFailover}, which the
 * scheduler's thread calls. The pool of the Jedis client orders borrowing and giving back.
 */
public final class JedisConnectionPool implements ConnectionPool {
  private static final Logger LOG = LoggerFactory.getLogger(JedisConnectionPool.class);

  private final JedisPoolProvider provider;
  private final WorkerPool workers;
  private BiConsumer<Object, Object> changeAction = (former, now) -> {};

  /** The connections that are borrowed, or about to be. */
  private final Set<PooledJedisConnection> lent = ConcurrentHashMap.newKeySet();

  /** The size of the pool that was last used; a negative one means without a limit. */
  private volatile int poolSize = -1;

  /** The server of the last check; only the scheduler's thread uses it. */
  private @Nullable Object lastServer;

  public JedisConnectionPool(JedisPoolProvider provider, WorkerPool workers) {
    this.provider = provider;
    this.workers = workers;
  }

  @Override
  public PooledConnection borrow(Deadline deadline) throws InterruptedException {
    Pool<Connection> pool = provider.pool();
    poolSize = pool.getMaxTotal();
    if (pool.getNumIdle() == 0) {
      PooledConnection.reclaim(lent);
    }
    PooledJedisConnection pooled = new PooledJedisConnection(pool);
    boolean borrowed = false;
    lent.add(pooled);
    try {
      pooled.connection = pool.borrowObject(Duration.ofNanos(Math.max(1, deadline.leftNanos())));
      borrowed = true;
      return pooled;
    } catch (InterruptedException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new JedisConnectionException("connecting failed", e);
    } finally {
      if (!borrowed) {
        lent.remove(pooled);
      }
    }
  }

  /** A borrowed connection; made before the pool lends one, so that nothing can fail in between. */
  private final class PooledJedisConnection extends PooledConnection {
    private final Pool<Connection> pool;
    private @Nullable Connection connection;
    private volatile boolean evicted;

    PooledJedisConnection(Pool<Connection> pool) {
      this.pool = pool;
    }

    @Override
    public Connection connection() {
      Connection borrowed = connection;
      if (borrowed == null) {
        throw new IllegalStateException("no connection was borrowed");
      }
      return borrowed;
    }

    /**
     * Gives the connection back; a broken one on a worker, because the pool may connect at that
     * moment, on behalf of a waiting caller. Without a worker, as after the close, this thread does
     * it.
     */
    @Override
    public void giveBack(boolean reusable) {
      Connection borrowed = connection();
      if (reusable && !evicted) {
        pool.returnObject(borrowed);
        if (evicted) {
          pool.clear(); // it came back too late for softEvict()
        }
        lent.remove(this);
        return;
      }
      boolean submitted = false;
      try {
        submitted = workers.tryRun(() -> invalidate(pool, borrowed));
      } finally {
        if (!submitted) {
          invalidate(pool, borrowed);
        }
      }
      lent.remove(this);
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
      return provider.pool().getFactory().makeObject().getObject();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new JedisConnectionException("connecting failed", e);
    }
  }

  @Override
  public Connection connect(Deadline deadline) {
    return connect();
  }

  @Override
  public boolean canFailOver() {
    return provider instanceof JedisPoolProvider.Sentinel;
  }

  @Override
  public void onChange(BiConsumer<Object, Object> action) {
    changeAction = action;
  }

  /** Compares the server that the user's client knows with the last one; sends nothing. */
  @Override
  public void checkForFailover(boolean inUse) {
    Object former = lastServer;
    Object now = provider.server();
    lastServer = now;
    if (former != null && !former.equals(now)) {
      changeAction.accept(former, now);
    }
  }

  @Override
  public void softEvict() {
    for (PooledJedisConnection each : lent) {
      each.evicted = true; // first: what is given back from here on is closed
    }
    Pool<Connection> pool = provider.poolIfKnown();
    if (pool != null) {
      pool.clear();
    }
  }

  @Override
  public int maxConnections() {
    int size = poolSize;
    return size < 0 ? Integer.MAX_VALUE : size;
  }

  @Override
  public int inUse() {
    PooledConnection.reclaim(lent);
    Pool<Connection> pool = provider.poolIfKnown();
    return pool == null ? 0 : pool.getNumActive();
  }

  @Override
  public boolean isClosed() {
    Pool<Connection> pool = provider.poolIfKnown();
    return pool != null && pool.isClosed();
  }

  @Override
  public void close() {
    // The user closes the client, and with it the pool.
  }
}
