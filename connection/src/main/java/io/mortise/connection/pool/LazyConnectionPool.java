package io.mortise.connection.pool;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.Deadline;
import java.net.InetAddress;
import java.util.Deque;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;

/**
 * The client's own connections to one server: a semaphore of permits, and the idle connections.
 *
 * <p>A thread with a permit takes an idle connection, or makes one, on its own thread and within
 * its own time limit. A connection pool of Jedis would connect when it decides to: with its default
 * time-out, and, to replace a broken connection, on the thread that gives that one back, on behalf
 * of another caller.
 *
 * <p><b>Threads.</b> Any thread may call every method. The semaphore counts the borrowed
 * connections; the deque passes idle ones on. The set has the connections that are borrowed, or
 * about to be. A connection that its borrower has abandoned is given back by one thread after the
 * other until it has left the set.
 */
public final class LazyConnectionPool implements ConnectionPool {
  private static final Logger LOG = LoggerFactory.getLogger(LazyConnectionPool.class);

  /** The time after which INFO is sent again to a server that refused it: rights may change. */
  private static final long REFUSAL_RETRY_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** A connection that was idle for so long may have been forgotten by a firewall meanwhile. */
  private static final long LONG_IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final HostAndPort server;
  private final HostAddresses addresses;
  private final JedisClientConfig config;
  private final Ticker ticker;
  private final Random random;
  private final EvictionPolicyCheck evictionCheck;
  private final int maxConnections;
  private final Semaphore permits;
  private final Deque<Idle> idle = new ConcurrentLinkedDeque<>();
  private final Set<PermittedConnection> borrowed = ConcurrentHashMap.newKeySet();
  private final AtomicInteger generation = new AtomicInteger();
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Whether the server refuses INFO to this user, and since when. */
  private volatile boolean infoRefused;

  private volatile long infoRefusedNanos;

  private record Idle(RedisConnection connection, int generation, long sinceNanos) {}

  public LazyConnectionPool(
      HostAndPort server, JedisClientConfig config, ConnectionSettings settings) {
    this.server = server;
    this.addresses = new HostAddresses(server.getHost(), InetAddress::getAllByName);
    this.config = config;
    this.ticker = settings.ticker();
    this.random = settings.random();
    this.evictionCheck = new EvictionPolicyCheck(server.toString(), LOG::warn);
    this.maxConnections = settings.maxConnections();
    this.permits = new Semaphore(maxConnections);
  }

  @Override
  public PooledConnection borrow(Deadline deadline) throws InterruptedException {
    PermittedConnection next = new PermittedConnection();
    boolean returned = false;
    try {
      next.take(deadline);
      return next;
    } catch (Throwable e) {
      try {
        next.giveBack(false);
        returned = true;
      } finally {
        next.abandoned = !returned;
      }
      throw e;
    }
  }

  private RedisConnection connectWithin(Deadline deadline) {
    RedisConnection connection = connect(deadline);
    try {
      if (!infoRefused || ticker.read() - infoRefusedNanos > REFUSAL_RETRY_NANOS) {
        connection.requestServerInfo(this::noteRefusal, evictionCheck);
      }
      return connection;
    } catch (Throwable e) {
      RedisConnection.disconnect(connection);
      throw e;
    }
  }

  private long connectionTimeoutNanos() {
    return TimeUnit.MILLISECONDS.toNanos(config.getConnectionTimeoutMillis());
  }

  private void noteRefusal() {
    if (!infoRefused) {
      LOG.info(
          "{} refuses INFO to this user: releases in doubt cannot be distinguished from others",
          server);
    }
    infoRefusedNanos = ticker.read();
    infoRefused = true;
  }

  @Override
  public RedisConnection connect(Deadline deadline) {
    return RedisConnection.connect(
        server, addresses, config, deadline.within(connectionTimeoutNanos()), random);
  }

  private void closeIdle() {
    for (Idle each = idle.pollFirst(); each != null; each = idle.pollFirst()) {
      RedisConnection.disconnect(each.connection());
    }
  }

  @Override
  public int maxConnections() {
    return maxConnections;
  }

  @Override
  public int inUse() {
    PooledConnection.reclaim(borrowed);
    return Math.max(0, maxConnections - permits.availablePermits());
  }

  @Override
  public boolean isClosed() {
    return closed.get();
  }

  /**
   * Closes the pool and its idle connections. Interrupts no thread: when the node has left its
   * cluster, the threads that wait for a connection are about to ask another node. Each gets a
   * permit instead, and sees that the pool is closed.
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      try {
        // For all that wait, or come later. An error may have released a permit twice: not all.
        permits.release((Integer.MAX_VALUE - maxConnections) / 2);
      } finally {
        closeIdle();
      }
    }
  }

  /** One permit and its connection, which is null until it is made. */
  private final class PermittedConnection extends PooledConnection {
    private @Nullable RedisConnection connection;
    private boolean permitted;
    private int ownGeneration;
    private boolean wasLongIdle;
    private boolean handled;

    void take(Deadline deadline) throws InterruptedException {
      if (permits.availablePermits() == 0) {
        PooledConnection.reclaim(borrowed);
      }
      borrowed.add(this);
      long left = Math.max(0, deadline.leftNanos());
      permitted = permits.tryAcquire(left, TimeUnit.NANOSECONDS);
      if (!permitted) {
        throw new NoSuchElementException(
            "all " + maxConnections + " connections are in use", new TimeoutException());
      }
      if (closed.get()) {
        throw new IllegalStateException("the connections to " + server + " were closed");
      }
      Idle present = nextIdle();
      wasLongIdle = present != null && ticker.read() - present.sinceNanos() >= LONG_IDLE_NANOS;
      ownGeneration = present == null ? generation.get() : present.generation(); // first
      connection = present == null ? connectWithin(deadline) : present.connection();
    }

    /** Returns an idle connection of the present generation; closes older ones. */
    private @Nullable Idle nextIdle() {
      Idle next = idle.pollFirst();
      while (next != null && next.generation() != generation.get()) {
        RedisConnection.disconnect(next.connection());
        next = idle.pollFirst();
      }
      return next;
    }

    /**
     * Closes the idle connections too. They have been idle for at least as long: if a firewall has
     * forgotten this connection, it has probably forgotten those, and each of them would cost a
     * time-out.
     */
    @Override
    public void timedOut() {
      if (wasLongIdle) {
        wasLongIdle = false; // once, for all commands of a batch
        closeIdle();
      }
    }

    @Override
    public Connection connection() {
      return Objects.requireNonNull(connection, "no connection was borrowed");
    }

    @Override
    public void endGeneration() {
      if (generation.compareAndSet(ownGeneration, ownGeneration + 1)) {
        closeIdle();
      }
    }

    @Override
    public void giveBack(boolean reusable) {
      RedisConnection present = connection;
      boolean first = !handled;
      handled = true; // whatever happens to the connection now, it is not in use twice
      try {
        if (present != null && first) {
          if (reusable && ownGeneration == generation.get()) {
            idle.addFirst(new Idle(present, ownGeneration, ticker.read()));
          } else {
            RedisConnection.disconnect(present);
          }
          if (closed.get()) {
            closeIdle(); // it came back too late for close()
          }
        }
      } finally {
        if (permitted) {
          permits.release();
          permitted = false;
        }
        borrowed.remove(this);
      }
    }
  }
}
