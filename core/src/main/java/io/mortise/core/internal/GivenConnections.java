package io.mortise.core.internal;

import java.time.Duration;
import redis.clients.jedis.Connection;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.util.Pool;

/** The connections of a Jedis client that the user made, and closes. */
final class GivenConnections implements ConnectionSource {
  private final Pool<Connection> pool;
  private final Workers workers;

  GivenConnections(RedisClient client, Workers workers) {
    this.pool = client.getPool();
    this.workers = workers;
  }

  @Override
  public Loan borrow(long deadlineNanos) throws InterruptedException {
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
              workers.run(() -> invalidate(connection));
            } catch (OutOfMemoryError noThread) {
              invalidate(connection);
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

  private void invalidate(Connection connection) {
    try {
      pool.invalidateObject(connection);
    } catch (Exception e) {
      Engine.LOG.debug("a broken connection could not be given back", e);
    }
  }

  @Override
  public Connection connect() {
    try {
      return pool.getFactory().makeObject().getObject();
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new JedisConnectionException("connecting failed", e);
    }
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
    return pool.isClosed();
  }

  @Override
  public void close() {
    // The client is the user's, and so is its pool.
  }
}
