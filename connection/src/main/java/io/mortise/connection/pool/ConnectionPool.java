package io.mortise.connection.pool;

import java.util.NoSuchElementException;
import java.util.function.BiConsumer;
import redis.clients.jedis.Connection;

/** Where the connections to one server come from: a pool, and single ones beside it. */
public interface ConnectionPool extends AutoCloseable {

  /**
   * Borrows a connection, connecting if need be.
   *
   * @param deadlineNanos the {@link System#nanoTime()} after which nobody wants it any more
   * @throws NoSuchElementException if all were in use until then
   * @throws InterruptedException if the thread is interrupted while it waits for one
   * @throws RuntimeException as Jedis throws it when connecting fails
   */
  ConnectionPool.PooledConnection borrow(long deadlineNanos) throws InterruptedException;

  /** A connection outside the pool, for a subscription. The caller closes it. */
  Connection connect();

  /** Whether a failover may put another server in the place of this one. */
  default boolean canFailOver() {
    return false;
  }

  /**
   * What to do when another server has taken the place of one; gets both. To be set before the
   * first use.
   */
  default void onChange(BiConsumer<Object, Object> action) {}

  /** A command was in vain: the server may not be the one any more. */
  default void suspectFailover() {}

  /**
   * Looks for another server in the place of this one; called regularly by the scheduler's thread,
   * and does not block.
   *
   * @param inUse whether anything is held or waited for
   */
  default void checkForFailover(boolean inUse) {}

  /** Drops the connections that lie idle. */
  void dropIdle();

  int inUse();

  boolean isClosed();

  @Override
  void close();

  /** A borrowed connection. Given back exactly once. */
  interface PooledConnection {
    Connection connection();

    /**
     * Gives the connection back.
     *
     * @param reusable false when its answers may be out of step, so that it has to be closed
     */
    void giveBack(boolean reusable);
  }
}
