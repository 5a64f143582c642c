package io.mortise.connection.pool;

import com.google.common.collect.MapMaker;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import java.time.Duration;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;
import redis.clients.jedis.util.Pool;

/**
 * The connections of a Jedis client that the user made, and closes.
 *
 * <p><b>Threads.</b> Any thread may call every method but {@code checkForFailover}, which the
 * scheduler's thread calls. The pool of the Jedis client orders borrowing and giving back.
 */
public final class JedisConnectionPool implements ConnectionPool {
  private static final Logger LOG = LoggerFactory.getLogger(JedisConnectionPool.class);

  /** The beginning of the message of commons-pool for a new connection that it does not lend. */
  private static final String UNABLE = "Unable to ";

  private final JedisPoolProvider provider;
  private final WorkerPool workers;
  private BiConsumer<Object, Object> changeAction = (former, now) -> {};

  private final AtomicInteger generation = new AtomicInteger();

  /** The generation of each connection, from when it was first lent here; compares by identity. */
  private final Map<Connection, Integer> generations = new MapMaker().weakKeys().makeMap();

  /** The connections that are borrowed, or about to be. */
  private final Set<PooledJedisConnection> lent = ConcurrentHashMap.newKeySet();

  /** The size of the pool that was last used; a negative one means without a limit. */
  private volatile int poolSize = -1;

  // Of the last check; only the scheduler's thread uses them.
  private @Nullable Pool<Connection> lastPool;
  private @Nullable Object lastServer;

  public JedisConnectionPool(JedisPoolProvider provider, WorkerPool workers) {
    this.provider = provider;
    this.workers = workers;
  }

  /**
   * Borrows a connection from the present pool, also when the Jedis client replaces its pool during
   * the wait: after a failover, or when a node leaves its cluster. A pool that closes interrupts
   * the threads that wait for its connections. So an interrupt that ends a wait in a closed pool is
   * taken for the pool's, and is swallowed. An interrupt by the caller is kept if it arrives before
   * the pool closes, or after the wait has ended. One that arrives in between is lost: the
   * interrupt status of a thread does not say who has set it.
   *
   * @throws IllegalStateException if the pool is closed and there is no other one, because the
   *     Jedis client is closed
   */
  @Override
  public PooledConnection borrow(Deadline deadline) throws InterruptedException {
    Pool<Connection> pool = provider.pool();
    while (true) {
      try {
        return borrow(pool, deadline);
      } catch (InterruptedException | RuntimeException failed) {
        if (!pool.isClosed()) {
          throw failed;
        }
        Pool<Connection> now = deadline.hasPassed() ? pool : provider.pool(); // which may take time
        if (now == pool) {
          throw failed instanceof RuntimeException unchecked
              ? unchecked
              : new IllegalStateException("the pool of the Jedis client was closed", failed);
        }
        pool = now;
      }
    }
  }

  private PooledConnection borrow(Pool<Connection> pool, Deadline deadline)
      throws InterruptedException {
    poolSize = pool.getMaxTotal();
    if (pool.getNumIdle() == 0) {
      PooledConnection.reclaim(lent);
    }
    PooledJedisConnection pooled = new PooledJedisConnection(pool);
    boolean borrowed = false;
    lent.add(pooled);
    try {
      pooled.take(deadline);
      borrowed = true;
      return pooled;
    } catch (NoSuchElementException e) {
      if (deadline.hasPassed()) {
        throw new NoSuchElementException(e.getMessage(), new TimeoutException());
      }
      throw isUntestable(e) ? failureOfTest(deadline, e) : e;
    } catch (InterruptedException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new JedisConnectionException("connecting failed", e);
    } finally {
      if (!borrowed) {
        boolean returned = false;
        try {
          pooled.giveBack(false);
          returned = true;
        } finally {
          pooled.abandoned = !returned;
        }
      }
    }
  }

  /** Returns whether the pool had a connection, a new one, which has failed its test. */
  private static boolean isUntestable(NoSuchElementException thrown) {
    return String.valueOf(thrown.getMessage()).startsWith(UNABLE);
  }

  /**
   * Returns why a new connection fails the test of the pool ({@code testOnBorrow}). The pool throws
   * the same exception as when all connections are in use, and does not say what the server has
   * answered. So the server is asked again, on a connection outside the pool.
   */
  private RuntimeException failureOfTest(Deadline deadline, NoSuchElementException thrown) {
    try {
      Connection outside = connect(deadline);
      try {
        outside.setSoTimeout(deadline.leftMillis());
        outside.ping();
      } finally {
        RedisConnection.disconnect(outside);
      }
    } catch (JedisException why) {
      return why;
    }
    return new JedisConnectionException(
        "a new connection has failed the test of the Jedis client's pool", thrown);
  }

  /** A connection, null until it is lent; made before, so that nothing fails in between. */
  private final class PooledJedisConnection extends PooledConnection {
    private final Pool<Connection> pool;
    private @Nullable Connection connection;
    private int ownGeneration;
    private boolean returned;

    PooledJedisConnection(Pool<Connection> pool) {
      this.pool = pool;
    }

    /** Takes a connection of the present generation; one that is lent for the first time is. */
    void take(Deadline deadline) throws Exception {
      while (true) {
        Connection next = pool.borrowObject(Duration.ofNanos(Math.max(1, deadline.leftNanos())));
        connection = next;
        ownGeneration = generations.computeIfAbsent(next, first -> generation.get());
        if (ownGeneration == generation.get()) {
          return;
        }
        discard(pool, next);
        connection = null;
      }
    }

    @Override
    public void endGeneration() {
      if (generation.compareAndSet(ownGeneration, ownGeneration + 1)) {
        pool.clear(); // those of the caller's own commands too
      }
    }

    @Override
    public Connection connection() {
      return Objects.requireNonNull(connection, "no connection was borrowed");
    }

    @Override
    public void giveBack(boolean reusable) {
      Connection borrowed = returned ? null : connection;
      if (borrowed != null && reusable && ownGeneration == generation.get()) {
        pool.returnObject(borrowed);
      } else if (borrowed != null) {
        discard(pool, borrowed);
      }
      returned = true; // after an error that follows it may be in use again
      lent.remove(this);
    }
  }

  /**
   * Has the pool close a connection; on a worker, because the pool may connect at that moment, on
   * behalf of a waiting caller. Without a worker, as after the close, this thread does it; and
   * where no caller waits, because the next one must not find the pool exhausted.
   */
  private void discard(Pool<Connection> pool, Connection connection) {
    boolean submitted = false;
    try {
      submitted =
          pool.getBlockWhenExhausted() && workers.tryRun(() -> invalidate(pool, connection));
    } finally {
      if (!submitted) {
        invalidate(pool, connection);
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
  public Connection connect(Deadline deadline) {
    try {
      return provider.pool().getFactory().makeObject().getObject();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new JedisConnectionException("connecting failed", e);
    }
  }

  @Override
  public boolean canFailOver() {
    return provider instanceof JedisPoolProvider.Sentinel;
  }

  @Override
  public void onChange(BiConsumer<Object, Object> action) {
    changeAction = action;
  }

  /**
   * Compares the pool of the user's client with the last one; sends nothing. Another pool means
   * another server. The client may name that server before it has the pool: until then commands go
   * to the former one, so that it is too early to verify holds.
   */
  @Override
  public void checkForFailover(boolean inUse) {
    Pool<Connection> now = provider.poolIfKnown();
    if (now == null || now == lastPool) {
      return;
    }
    Object former = lastServer;
    Object server = provider.server();
    if (former != null) {
      changeAction.accept(former, server);
    }
    lastPool = now; // not before: after an error the next check repeats the action
    lastServer = server;
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
