package io.mortise.core.spi;

import io.mortise.scripts.ScriptCall;

/**
 * A {@link LockProtocol} whose waiters register in Redis, so that the end of a hold notifies one of
 * them alone, on its {@link #channelWhenQueued}. The third element of a reply to {@link #release}
 * is 1 then. The releasing client looks a moment later whether that one has come.
 *
 * <p><b>Threads.</b> As {@link LockProtocol}.
 */
public interface NotifyingProtocol extends LockProtocol {
  /** A holder id begins with the id of its client, a UUID. */
  int CLIENT_ID_LENGTH = 36;

  /** Returns the channel of the client of that holder, below the channel of the lock. */
  static String channelOfClient(String channel, String holder) {
    return channel + ":" + holder.substring(0, Math.min(CLIENT_ID_LENGTH, holder.length()));
  }

  /**
   * Returns a call that notifies the next waiter, if the one that a release has notified has not
   * come. Its reply: 1 to look again, because the next one may not come either; otherwise 0.
   */
  ScriptCall notifyNext();

  /**
   * Returns whether the answer {@link AcquireResult.Queued} makes the later check unnecessary: a
   * Mortise holder has the lock, and the end of its hold notifies the next waiter; or it is the
   * readers' turn, after which this waiter attempts again.
   */
  default boolean isHeldWhenQueued() {
    return true;
  }
}
