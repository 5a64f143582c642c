package io.mortise.connection.pool;

import io.mortise.connection.concurrent.Deadline;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.function.BiConsumer;
import redis.clients.jedis.Connection;

/**
 * The connections to one server: a pool for commands, and single connections for subscriptions.
 *
 * <p><b>Threads.</b> Any thread may call every method, except that {@code checkForFailover} is for
 * the scheduler's thread alone, and {@code onChange} is called before the first use.
 */
public interface ConnectionPool extends AutoCloseable {

  /**
   * Borrows a connection; connects if none is idle.
   *
   * @param deadline when the caller stops waiting
   * @throws NoSuchElementException if all connections were in use until then, with a time-out as
   *     its cause; or without one, if the pool of a Jedis client does not wait
   * @throws InterruptedException if the thread is interrupted while it waits for a connection
   * @throws RuntimeException as Jedis throws it when connecting fails
   */
  PooledConnection borrow(Deadline deadline) throws InterruptedException;

  /**
   * Returns a new connection outside the pool, as for a subscription. The caller closes it. The
   * pool of a Jedis client ignores the deadline, and connects for as long as that client's settings
   * allow.
   */
  Connection connect(Deadline deadline);

  /** Returns whether a failover may replace this server by another one. */
  default boolean canFailOver() {
    return false;
  }

  /**
   * Sets the action for a server that has replaced another one; the action gets the former and the
   * new one. Called before the first use.
   */
  default void onChange(BiConsumer<Object, Object> action) {}

  /** Notes that a command has failed: another server may have replaced this one. */
  default void suspectFailover() {}

  /**
   * Checks whether another server has replaced this one. The scheduler's thread calls it regularly;
   * it does not block.
   *
   * @param inUse whether the client holds or waits for a lock
   */
  default void checkForFailover(boolean inUse) {}

  /** Returns how many connections can be borrowed at a time, as far as that is known. */
  int maxConnections();

  /** Returns the number of borrowed connections. */
  int inUse();

  boolean isClosed();

  @Override
  void close();

  /**
   * A borrowed connection. Its borrower gives it back once.
   *
   * <p>Where a stack has overflowed, even that call may fail. Then the borrower's last act is to
   * set {@code abandoned}, which needs no stack, and the pool takes the connection back when it is
   * next asked for one and has none free.
   */
  abstract class PooledConnection {
    public volatile boolean abandoned;

    /**
     * Gives back the connections that their borrowers have abandoned. Each removes itself from the
     * set, and last: removing it first, and failing after that, would lose it.
     */
    static void reclaim(Set<? extends PooledConnection> borrowed) {
      for (PooledConnection each : List.copyOf(borrowed)) {
        if (each.abandoned) {
          each.reclaim();
        }
      }
    }

    private synchronized void reclaim() { // of several threads one at a time
      giveBack(false);
    }

    public abstract Connection connection();

    /** Notes that no answer came in time. */
    public void timedOut() {}

    /**
     * Ends the generation of this connection, unless it has ended: none of it is lent again,
     * because this one is broken, or leads to a server that was replaced, and the others may be and
     * do the same. Those that are idle are closed, and each that is in use when it is given back.
     * The connections that are made from now on are the next generation.
     */
    public abstract void endGeneration();

    /**
     * Gives the connection back, for reuse only if its answers are not out of step. A repetition
     * goes on where an error has ended the call before.
     */
    public abstract void giveBack(boolean reusable);
  }
}
