package io.mortise.core.internal.acquire;

import com.google.common.base.Ticker;
import io.mortise.connection.pubsub.Subscriptions;
import io.mortise.core.internal.lease.ReleaseObserver;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.TransferableProtocol;

/**
 * Reports to {@link ReleaseFairness} how many other clients have received a release message, and to
 * {@link NotifiedWaiters} who was notified.
 */
public record ObservedReleases(
    Subscriptions subscriptions, ReleaseFairness fairness, NotifiedWaiters notified, Ticker ticker)
    implements ReleaseObserver {

  @Override
  public void released(
      TransferableProtocol protocol, String holder, long receivers, boolean notifiedOne) {
    boolean heardHere = receivers > 0 && subscriptions.isHeard(protocol.channel(holder));
    fairness.onReleased(protocol, heardHere ? receivers - 1 : receivers, ticker.read());
    if (notifiedOne) {
      notified.onNotified(protocol);
    }
  }

  @Override
  public void forced(TransferableProtocol protocol) {
    notified.onNotified(protocol);
  }

  /**
   * A lock that is held, by this attempt or by one whose end notifies the next waiter, needs no
   * look. Behind {@link AcquireResult.Busy} may be one of Redisson, which notifies none of ours.
   */
  @Override
  public void attempted(LockProtocol protocol, AcquireResult result, long sentNanos) {
    if (TransferableProtocol.isTransferable(protocol) && !(result instanceof AcquireResult.Busy)) {
      notified.onHeld(protocol, sentNanos);
    }
  }
}
