package io.mortise.core.internal;

import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;

/** Where the connections to one server come from: a pool, and single ones beside it. */
interface ConnectionSource extends AutoCloseable {

  /**
   * Borrows a connection, connecting if need be.
   *
   * @param deadlineNanos the {@link System#nanoTime()} after which nobody wants it any more
   * @throws NoSuchElementException if all were in use until then
   * @throws InterruptedException if the thread is interrupted while it waits for one
   * @throws RuntimeException as Jedis throws it when connecting fails
   */
  Loan borrow(long deadlineNanos) throws InterruptedException;

  /**
   * Borrows a connection that lies idle, without waiting and without connecting.
   *
   * @return null when there is none
   * @throws InterruptedException if the thread was interrupted before
   */
  default @Nullable Loan borrowIdle() throws InterruptedException {
    return null;
  }

  /** A connection outside the pool, for a subscription. The caller closes it. */
  Connection connect();

  /** Whether a failover may put another server in the place of this one. */
  default boolean mayBecomeAnother() {
    return false;
  }

  /**
   * Which server it is at this moment, if that may change; another answer than before means a
   * failover. Null when it may not, or is not known yet.
   */
  default @Nullable Object server() {
    return null;
  }

  /** Drops the connections that lie idle. */
  void dropIdle();

  int inUse();

  boolean isClosed();

  @Override
  void close();

  /** A borrowed connection. Given back exactly once. */
  interface Loan {
    Connection connection();

    /**
     * Gives the connection back.
     *
     * @param reusable false when its answers may be out of step, so that it has to be closed
     */
    void giveBack(boolean reusable);
  }
}
