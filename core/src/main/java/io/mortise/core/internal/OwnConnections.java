package io.mortise.core.internal;

import io.mortise.core.LockOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericObjectPool;
import org.apache.commons.pool2.impl.GenericObjectPoolConfig;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.JedisClientConfig;

/**
 * The client's own connections to one server.
 *
 * <p>The pool holds <em>lines</em>, which connect when they are first used, by the thread that
 * borrowed them and within the time that it has. A pool of connections would connect whenever it
 * likes: with its default time-out, and, to replace a broken one, on the thread that gives that
 * back, for somebody else.
 */
final class OwnConnections implements ConnectionSource {
  /** After which a server is asked again: its rights may have changed. */
  private static final long REFUSED_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final HostAndPort server;
  private final JedisClientConfig config;
  private final GenericObjectPool<Line> pool;
  private volatile boolean closed;

  /** Whether the server does not let this user ask which it is, and since when. */
  private volatile boolean refused;

  private volatile long refusedNanos;

  OwnConnections(HostAndPort server, JedisClientConfig config, LockOptions options) {
    this.server = server;
    this.config = config;
    GenericObjectPoolConfig<Line> settings = new GenericObjectPoolConfig<>();
    settings.setMaxTotal(options.connections());
    settings.setMaxIdle(options.connections());
    settings.setJmxEnabled(false);
    settings.setCollectDetailedStatistics(false);
    this.pool = new GenericObjectPool<>(new Lines(), settings);
  }

  @Override
  public Loan borrow(long deadlineNanos) throws InterruptedException {
    Line line = borrowLine(Duration.ofNanos(Math.max(1, deadlineNanos - System.nanoTime())));
    try {
      if (closed) {
        throw new IllegalStateException("the connections to " + server + " were closed");
      }
      return new LineLoan(line, line.connected(deadlineNanos));
    } catch (RuntimeException e) {
      giveBack(line, false);
      throw e;
    }
  }

  @Override
  public @Nullable Loan borrowIdle() throws InterruptedException {
    if (pool.getNumIdle() == 0) {
      return null;
    }
    Line line = borrowLine(Duration.ZERO);
    Connection connection = line.connection;
    if (connection == null || closed) {
      giveBack(line, !closed);
      return null;
    }
    return new LineLoan(line, connection);
  }

  private Line borrowLine(Duration within) throws InterruptedException {
    try {
      return pool.borrowObject(within);
    } catch (InterruptedException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("a line is made without input or output", e);
    }
  }

  private Connection connect(long deadlineNanos) {
    long left = Math.max(1, (deadlineNanos - System.nanoTime()) / 1_000_000);
    int millis = (int) Math.min(left, config.getConnectionTimeoutMillis());
    Wire wire =
        Wire.connect(
            server,
            DefaultJedisClientConfig.builder()
                .from(config)
                .connectionTimeoutMillis(millis)
                .socketTimeoutMillis(millis)
                .build());
    if (!refused || System.nanoTime() - refusedNanos > REFUSED_NANOS) {
      wire.askForLife(this::refuses);
    }
    return wire;
  }

  private void refuses() {
    if (!refused) {
      Engine.LOG.info(
          "{} refuses INFO to this user: releases in doubt cannot be told from others", server);
    }
    refusedNanos = System.nanoTime();
    refused = true;
  }

  @Override
  public Connection connect() {
    return new Connection(server, config);
  }

  @Override
  public void dropIdle() {
    pool.clear();
  }

  @Override
  public int inUse() {
    return pool.getNumActive();
  }

  @Override
  public boolean isClosed() {
    return closed;
  }

  /**
   * Not by closing the pool, which would interrupt the threads that wait for a connection: when the
   * node has left its cluster they are about to ask another one. Each gets a line instead, which it
   * will not connect.
   */
  @Override
  public void close() {
    closed = true;
    pool.clear();
    pool.setMaxTotal(-1);
    try {
      pool.addObjects(pool.getNumWaiters());
    } catch (Exception e) {
      throw new IllegalStateException("a line is made without input or output", e);
    }
  }

  private void giveBack(Line line, boolean reusable) {
    try {
      if (reusable) {
        pool.returnObject(line);
        if (closed) {
          pool.clear();
        }
      } else {
        pool.invalidateObject(line);
      }
    } catch (Exception e) {
      // The line is out of the pool either way, and the command has its result.
      Engine.LOG.debug("a connection to {} could not be given back", server, e);
    }
  }

  private final class LineLoan implements Loan {
    private final Line line;
    private final Connection connection;

    LineLoan(Line line, Connection connection) {
      this.line = line;
      this.connection = connection;
    }

    @Override
    public Connection connection() {
      return connection;
    }

    @Override
    public void giveBack(boolean reusable) {
      OwnConnections.this.giveBack(line, reusable);
    }
  }

  /** A place in the pool; used by one borrower at a time, which the pool orders. */
  private final class Line {
    private @Nullable Connection connection;

    Connection connected(long deadlineNanos) {
      Connection present = connection;
      if (present == null) {
        present = connect(deadlineNanos);
        connection = present;
      }
      return present;
    }

    void close() throws IOException {
      if (connection != null) {
        connection.forceDisconnect();
      }
    }
  }

  private final class Lines extends BasePooledObjectFactory<Line> {
    @Override
    public Line create() {
      return new Line();
    }

    @Override
    public PooledObject<Line> wrap(Line line) {
      return new DefaultPooledObject<>(line);
    }

    @Override
    public void destroyObject(PooledObject<Line> pooled) throws IOException {
      pooled.getObject().close();
    }
  }
}
