package io.mortise.connection.pool;

import io.mortise.connection.concurrent.Deadline;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * The client's own connections to the server that the {@link SentinelMonitor} calls the master.
 * There is one {@link LazyConnectionPool} for each master. The pool of a former master is closed
 * when the next master is known; its borrowed connections break, or are closed when they are given
 * back.
 *
 * <p>From the first use on the sentinels are queried in each check for a failover, every 200 ms,
 * while the client holds or waits for a lock, or after a command has failed. Otherwise they are
 * queried every {@value #IDLE_MILLIS} ms, so that an idle client does not begin at a master that
 * was replaced long ago.
 *
 * <p><b>Threads.</b> Any thread may call every method but {@code checkForFailover}, which the
 * scheduler's thread calls. {@code lock} guards the changes of the master; a borrower reads the
 * current pool without it.
 */
public final class SentinelConnectionPool implements ConnectionPool {
  private static final long IDLE_MILLIS = 2_000;

  private final SentinelMonitor monitor;
  private final JedisClientConfig config;
  private final ConnectionSettings settings;
  private final ReentrantLock lock = new ReentrantLock();
  private volatile @Nullable Master current;
  private volatile boolean failoverSuspected;
  private volatile long queriedNanos;
  private volatile boolean closed;

  /** One master and the connections to it. */
  private record Master(HostAndPort server, LazyConnectionPool connections) {}

  public SentinelConnectionPool(
      SentinelMonitor monitor, JedisClientConfig config, ConnectionSettings settings) {
    this.monitor = monitor;
    this.config = config;
    this.settings = settings;
    this.queriedNanos = settings.ticker().read();
  }

  private LazyConnectionPool master(Deadline deadline) throws InterruptedException {
    return at(monitor.master(deadline));
  }

  private LazyConnectionPool at(HostAndPort server) {
    Master known = current;
    return known != null && known.server().equals(server)
        ? known.connections()
        : changeTo(server).connections();
  }

  private Master changeTo(HostAndPort reported) {
    lock.lock();
    try {
      if (closed) {
        throw new JedisConnectionException("the client was closed");
      }
      HostAndPort latest = monitor.known(); // there may have been two failovers
      HostAndPort server = latest == null ? reported : latest;
      Master known = current;
      if (known != null && known.server().equals(server)) {
        return known;
      }
      Master next = new Master(server, new LazyConnectionPool(server, config, settings));
      current = next;
      if (known != null) {
        known.connections().close();
      }
      return next;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public ConnectionPool.PooledConnection borrow(Deadline deadline) throws InterruptedException {
    while (true) {
      LazyConnectionPool pool = master(deadline);
      try {
        return pool.borrow(deadline);
      } catch (RuntimeException failed) {
        Master now = current;
        if (closed || now == null || now.connections() == pool) {
          throw failed;
        } // the pool was closed during the wait, because there is another master
      }
    }
  }

  @Override
  public Connection connect(Deadline deadline) {
    try {
      return master(deadline).connect(deadline);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new JedisConnectionException("interrupted while the sentinels were queried", e);
    }
  }

  @Override
  public boolean canFailOver() {
    return true;
  }

  @Override
  public void onChange(BiConsumer<Object, Object> action) {
    monitor.onChange(
        (former, now) -> {
          at(now);
          action.accept(former, now);
        });
  }

  @Override
  public void suspectFailover() {
    failoverSuspected = true;
  }

  @Override
  public void checkForFailover(boolean inUse) {
    long now = settings.ticker().read();
    boolean due = now - queriedNanos >= TimeUnit.MILLISECONDS.toNanos(IDLE_MILLIS);
    if (current != null && (inUse || failoverSuspected || due)) {
      failoverSuspected = false;
      queriedNanos = now;
      monitor.ask();
    }
  }

  @Override
  public int maxConnections() {
    return settings.maxConnections();
  }

  @Override
  public int inUse() {
    Master known = current;
    return known == null ? 0 : known.connections().inUse();
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    closed = true;
    monitor.close();
    lock.lock();
    try {
      Master known = current;
      if (known != null) {
        known.connections().close();
      }
    } finally {
      lock.unlock();
    }
  }
}
