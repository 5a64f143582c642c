package io.mortise.core.spi;

import io.mortise.scripts.ScriptCall;

/**
 * A {@link LockProtocol} whose waiters leave something in Redis: a place in a queue, or a mark of
 * their intent. A heartbeat keeps it, and a waiter that gives up removes it.
 *
 * <p><b>Threads.</b> As {@link LockProtocol}.
 */
public interface QueueingProtocol extends LockProtocol {

  /**
   * Returns whether every waiter has its own channel: the client then unsubscribes soon after the
   * wait, and may subscribe channels of future waiters ahead. The channel of an empty holder must
   * not be that of another lock.
   */
  boolean hasChannelPerWaiter();

  /** Removes a place in the queue, or the hold itself. */
  @Override
  ScriptCall leave(String holder);

  /**
   * Returns the heartbeat of an acquisition that waits, as one item of a batch script. Its reply
   * for each item: 1 to go on waiting; any other number to attempt again now.
   */
  Heartbeat heartbeat(String holder);

  /**
   * A heartbeat of a waiter.
   *
   * @param item one item of a batch script
   * @param everyMillis the interval between two heartbeats
   */
  record Heartbeat(ScriptCall item, long everyMillis) {}
}
