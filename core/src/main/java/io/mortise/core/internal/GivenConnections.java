package io.mortise.core.internal;

import java.time.Duration;
import redis.clients.jedis.Connection;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.Pool;

/** The connections of a Jedis client that the user made, and closes. */
final class GivenConnections implements ConnectionSource {
  private final GivenPool given;
  private final Workers workers;

  GivenConnections(GivenPool given, Workers workers) {
    this.given = given;
    this.workers = workers;
  }

  @Override
  public Loan borrow(long deadlineNanos) throws InterruptedException {
    Pool<Connection> pool = given.now();
    try {
      Connection connection =
          pool.borrowObject(Duration.ofNanos(Math.max(1, deadlineNanos - System.nanoTime())));
      return new Loan() {
        @Override
        public Connection connection() {
          return connection;
        }

        @Override
        public void giveBack(boolean reusable) {
          if (reusable) {
            pool.returnObject(connection);
          } else {
            // The pool may connect anew at that moment, for somebody who waits: not on this thread.
            try {
              workers.run(() -> invalidate(pool, connection));
            } catch (OutOfMemoryError noThread) {
              invalidate(pool, connection);
            }
          }
        }
      };
    } catch (InterruptedException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new JedisConnectionException("connecting failed", e);
    }
  }

  private static void invalidate(Pool<Connection> pool, Connection connection) {
    try {
      pool.invalidateObject(connection);
    } catch (Exception e) {
      Engine.LOG.debug("a broken connection could not be given back", e);
    }
  }

  @Override
  public Connection connect() {
    try {
      return given.now().getFactory().makeObject().getObject();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new JedisConnectionException("connecting failed", e);
    }
  }

  @Override
  public boolean mayBecomeAnother() {
    return given instanceof GivenPool.OfSentinels;
  }

  @Override
  public Object server() {
    return given.server();
  }

  @Override
  public void dropIdle() {
    given.now().clear();
  }

  @Override
  public int inUse() {
    return given.now().getNumActive();
  }

  @Override
  public boolean isClosed() {
    return given.now().isClosed();
  }

  @Override
  public void close() {
    // The client is the user's, and so is its pool.
  }
}
