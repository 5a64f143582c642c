package io.mortise.connection.pool;

import java.io.IOException;
import java.net.InetAddress;
import java.util.Deque;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;

/**
 * The client's own connections to one server: so many permits, and those connections that lie idle.
 *
 * <p>Whoever has a permit takes an idle connection, or makes one, on its own thread and within the
 * time that it has. A pool of connections would connect whenever it likes: with its default
 * time-out, and, to replace a broken one, on the thread that gives that back, for somebody else.
 *
 * <p><b>Threads.</b> The semaphore counts who has a connection; the deque passes idle ones on. A
 * permit is given back last, in a {@code finally}, on the thread that took it. It is taken two
 * calls deeper than it is given back, so where the stack was large enough for the one it is for the
 * other: a {@code StackOverflowError} on the way loses none.
 */
public final class LazyConnectionPool implements ConnectionPool {
  private static final Logger LOG = LoggerFactory.getLogger(LazyConnectionPool.class);

  /** After which a server is asked again: its rights may have changed. */
  private static final long REFUSED_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Permits for all who wait, and who come, after the close. */
  private static final int FOR_ALL = Integer.MAX_VALUE / 2;

  private final HostAndPort server;
  private final HostAddresses addresses;
  private final JedisClientConfig config;
  private final EvictionPolicyCheck eviction;
  private final int most;
  private final Semaphore permits;
  private final Deque<RedisConnection> idle = new ConcurrentLinkedDeque<>();
  private final AtomicBoolean closed = new AtomicBoolean();

  /** Whether the server does not let this user ask which it is, and since when. */
  private volatile boolean refused;

  private volatile long refusedNanos;

  public LazyConnectionPool(
      HostAndPort server, JedisClientConfig config, ConnectionSettings settings) {
    this.server = server;
    this.addresses = new HostAddresses(server.getHost(), InetAddress::getAllByName);
    this.config = config;
    this.eviction = new EvictionPolicyCheck(server.toString(), LOG::warn);
    this.most = settings.maxConnections();
    this.permits = new Semaphore(most);
  }

  @Override
  public ConnectionPool.PooledConnection borrow(long deadlineNanos) throws InterruptedException {
    OwnLoan loan = new OwnLoan();
    boolean lent = false;
    try {
      loan.take(deadlineNanos);
      lent = true;
      return loan;
    } finally {
      if (!lent) {
        loan.giveBack(false);
      }
    }
  }

  private RedisConnection connectWithin(long deadlineNanos) {
    long within = TimeUnit.MILLISECONDS.toNanos(config.getConnectionTimeoutMillis());
    long now = System.nanoTime();
    RedisConnection wire =
        RedisConnection.connect(
            server, addresses, config, now + Math.min(within, deadlineNanos - now));
    boolean asked = false;
    try {
      if (!refused || System.nanoTime() - refusedNanos > REFUSED_NANOS) {
        wire.requestServerInfo(this::refuses, eviction);
      }
      asked = true;
      return wire;
    } finally {
      if (!asked) {
        disconnect(wire);
      }
    }
  }

  private void refuses() {
    if (!refused) {
      LOG.info(
          "{} refuses INFO to this user: releases in doubt cannot be told from others", server);
    }
    refusedNanos = System.nanoTime();
    refused = true;
  }

  @Override
  public Connection connect() {
    return RedisConnection.connect(
        server,
        addresses,
        config,
        System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(config.getConnectionTimeoutMillis()));
  }

  @Override
  public void dropIdle() {
    for (RedisConnection wire = idle.pollFirst(); wire != null; wire = idle.pollFirst()) {
      disconnect(wire);
    }
  }

  private void disconnect(RedisConnection wire) {
    try {
      wire.forceDisconnect();
    } catch (IOException e) {
      LOG.debug("a connection to {} could not be closed", server, e);
    }
  }

  @Override
  public int inUse() {
    return Math.max(0, most - permits.availablePermits());
  }

  @Override
  public boolean isClosed() {
    return closed.get();
  }

  /**
   * Interrupts nobody: when the node has left its cluster, those who wait for a connection are
   * about to ask another one. Each gets a permit instead, and sees that there is none.
   */
  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      permits.release(FOR_ALL);
      dropIdle();
    }
  }

  /** One permit and the connection that goes with it; null while that is not made. */
  private final class OwnLoan implements ConnectionPool.PooledConnection {
    private @Nullable RedisConnection wire;
    private boolean permitted;

    void take(long deadlineNanos) throws InterruptedException {
      takePermit(Math.max(0, deadlineNanos - System.nanoTime()));
      if (!permitted) {
        throw new NoSuchElementException("all " + most + " connections are in use");
      }
      if (closed.get()) {
        throw new IllegalStateException("the connections to " + server + " were closed");
      }
      RedisConnection present = idle.pollFirst();
      wire = present == null ? connectWithin(deadlineNanos) : present;
    }

    private void takePermit(long withinNanos) throws InterruptedException {
      permitted = permits.tryAcquire(withinNanos, TimeUnit.NANOSECONDS);
    }

    @Override
    public Connection connection() {
      RedisConnection present = wire;
      if (present == null) {
        throw new IllegalStateException("it was not lent");
      }
      return present;
    }

    @Override
    public void giveBack(boolean reusable) {
      RedisConnection present = wire;
      try {
        if (present != null) {
          if (reusable) {
            idle.addFirst(present);
          } else {
            disconnect(present);
          }
          if (closed.get()) {
            dropIdle(); // what has come back too late for close()
          }
        }
      } finally {
        if (permitted) {
          permitted = false;
          permits.release();
        }
      }
    }
  }
}
