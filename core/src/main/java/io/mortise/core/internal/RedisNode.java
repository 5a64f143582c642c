package io.mortise.core.internal;

import io.mortise.core.LockException.Reason;
import java.time.Duration;
import java.util.NoSuchElementException;
import org.apache.commons.pool2.PooledObjectFactory;
import org.apache.commons.pool2.impl.GenericObjectPool;
import redis.clients.jedis.Connection;

/**
 * One server: a pool of connections for commands, and single connections for subscriptions.
 *
 * <p>The pool is the client's own, or that of a Jedis client which the user handed in; in both
 * cases commands run on a connection that this class borrows, so that each has its own time limit
 * and runs exactly as often as the engine says: Jedis' own repetition is not involved.
 */
final class RedisNode implements AutoCloseable {
  /** Of a pool without a limit. */
  private static final int MOST_CARRIERS = 256;

  private final String address;
  private final GenericObjectPool<Connection> pool;
  private final boolean owned;
  private final Carriers carriers;

  RedisNode(String address, GenericObjectPool<Connection> pool, boolean owned) {
    this.address = address;
    this.pool = pool;
    this.owned = owned;
    this.carriers = new Carriers(pool.getMaxTotal() < 0 ? MOST_CARRIERS : pool.getMaxTotal());
  }

  /**
   * Runs one exchange on a borrowed connection.
   *
   * <p>A connection that breaks at once, without a time-out, was most likely dead before: the
   * server restarted, or closed it for being idle. All that lie idle are then suspect and are
   * dropped, and the exchange is tried once more on a new one. What the engine sends is safe to
   * repeat.
   *
   * <p>An interrupt does not end it. The status is put aside meanwhile; it stands again when this
   * returns, and whoever waits looks at it then.
   */
  Reply exchange(Exchange exchange, long timeoutNanos) throws Fault {
    if (!Carriers.areNeeded()) {
      return exchangeHere(exchange, timeoutNanos);
    }
    long start = System.nanoTime();
    return carriers.run(
        () -> {
          long left = timeoutNanos - (System.nanoTime() - start);
          if (left <= 0) {
            throw Faults.of(new NoSuchElementException("no carrier was free"), address, false);
          }
          return exchangeHere(exchange, left);
        });
  }

  private Reply exchangeHere(Exchange exchange, long timeoutNanos) throws Fault {
    long start = System.nanoTime();
    boolean interrupted = Thread.interrupted();
    try {
      return new Reply(once(exchange, timeoutNanos), false);
    } catch (Fault first) {
      interrupted |= Thread.interrupted();
      long left = timeoutNanos - (System.nanoTime() - start);
      if (first.reason() != Reason.UNREACHABLE || !first.mayHaveRun() || left <= 0) {
        throw first;
      }
      pool.clear();
      try {
        return new Reply(once(exchange, left), true);
      } catch (Fault second) {
        second.addSuppressed(first);
        throw second.mayHaveRunBefore();
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private Object once(Exchange exchange, long timeoutNanos) throws Fault {
    Connection connection = borrow(timeoutNanos);
    int before = connection.getSoTimeout();
    boolean reusable = false;
    try {
      connection.setSoTimeout(millis(timeoutNanos));
      Object reply = exchange.on(connection);
      connection.setSoTimeout(before);
      reusable = !connection.isBroken();
      return reply;
    } catch (redis.clients.jedis.exceptions.JedisDataException e) {
      connection.setSoTimeout(before);
      reusable = !connection.isBroken();
      throw Faults.of(e, address, true);
    } catch (RuntimeException e) {
      throw Faults.of(e, address, true);
    } finally {
      giveBack(connection, reusable);
    }
  }

  private Connection borrow(long timeoutNanos) throws Fault {
    ConnectBudget.set(millis(timeoutNanos));
    try {
      return pool.borrowObject(Duration.ofNanos(timeoutNanos));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Fault(
          Reason.NO_CONNECTION_FREE, false, "interrupted while all connections were in use", e);
    } catch (Exception e) {
      if (pool.isClosed()) {
        throw new Fault(
            Reason.CLIENT_CLOSED, false, "the client for " + address + " was closed", e);
      }
      throw Faults.of(e, address, false);
    } finally {
      ConnectBudget.clear();
    }
  }

  private void giveBack(Connection connection, boolean reusable) {
    try {
      if (reusable) {
        pool.returnObject(connection);
      } else {
        pool.invalidateObject(connection);
      }
    } catch (Exception e) {
      // The connection is out of the pool either way, and the exchange has its result.
      Engine.LOG.debug("a connection to {} could not be given back", address, e);
    }
  }

  /** A connection of its own, outside the pool, for a subscription. The caller closes it. */
  Connection connect() throws Fault {
    try {
      PooledObjectFactory<Connection> factory = pool.getFactory();
      return factory.makeObject().getObject();
    } catch (Exception e) {
      throw Faults.of(e, address, false);
    }
  }

  private static int millis(long nanos) {
    return (int) Math.min(Integer.MAX_VALUE, Math.max(1, nanos / 1_000_000));
  }

  int connectionsInUse() {
    return pool.getNumActive();
  }

  @Override
  public void close() {
    carriers.close();
    if (owned) {
      pool.close();
    }
  }

  @Override
  public String toString() {
    return address;
  }

  /** What is said on a connection, and what comes back. */
  @FunctionalInterface
  interface Exchange {
    Object on(Connection connection);
  }

  /**
   * An answer.
   *
   * @param value as Jedis decodes it: {@code Long}, {@code byte[]}, {@code List}
   * @param repeated whether it was asked twice, so that the first may have run without an answer
   */
  record Reply(Object value, boolean repeated) {}
}
