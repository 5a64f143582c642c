package io.mortise.core.internal.acquire;

import com.google.common.base.Ticker;
import io.mortise.connection.pubsub.Subscriptions;
import io.mortise.core.internal.lease.ReleaseObserver;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.NotifyingProtocol;
import io.mortise.core.spi.TransferableProtocol;

/**
 * Reports to {@link ReleaseFairness} how many other clients have received a release message, and to
 * {@link NotifiedWaiters} who was notified.
 */
public record ReleaseEffects(
    Subscriptions subscriptions, ReleaseFairness fairness, NotifiedWaiters notified, Ticker ticker)
    implements ReleaseObserver {

  /**
   * The readers of this client that a write release has notified count as another client. They
   * enter before the next writer, so the writer's pause delays nobody else.
   */
  @Override
  public void released(LockProtocol protocol, String holder, long receivers, boolean notifiedOne) {
    if (TransferableProtocol.isTransferable(protocol)) {
      boolean heardHere = receivers > 0 && subscriptions.isHeard(protocol.channel(holder));
      fairness.onReleased(protocol, heardHere ? receivers - 1 : receivers, ticker.read());
    }
    if (notifiedOne) {
      lookAfterNotified(protocol);
    }
  }

  @Override
  public void forced(LockProtocol protocol) {
    lookAfterNotified(protocol);
  }

  private void lookAfterNotified(LockProtocol protocol) {
    if (protocol instanceof NotifyingProtocol notifying) {
      notified.onNotified(notifying);
    }
  }

  /**
   * No check is needed while a Mortise client holds the lock: the end of its hold notifies the next
   * waiter. {@link AcquireResult.Busy} may mean a Redisson holder, which notifies none of ours.
   */
  @Override
  public void attempted(LockProtocol protocol, AcquireResult result, long sentNanos) {
    if (protocol instanceof NotifyingProtocol notifying && isHeldByOurs(notifying, result)) {
      notified.onHeld(protocol, sentNanos);
    }
  }

  private static boolean isHeldByOurs(NotifyingProtocol protocol, AcquireResult result) {
    return result instanceof AcquireResult.Queued queued
        ? protocol.isHeldWhenQueued() && !queued.redissonHolds()
        : result instanceof AcquireResult.Acquired;
  }
}
