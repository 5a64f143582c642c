package io.mortise.core.internal.acquire;

import com.google.common.base.Ticker;
import io.mortise.connection.pubsub.Subscriptions;
import io.mortise.core.internal.lease.ReleaseObserver;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.TransferableProtocol;
import org.jspecify.annotations.Nullable;

/**
 * Reports to {@link ReleaseFairness} how many other clients have received a release message, and to
 * {@link NotifiedWaiters} who was notified.
 */
public record ObservedReleases(
    Subscriptions subscriptions, ReleaseFairness fairness, NotifiedWaiters notified, Ticker ticker)
    implements ReleaseObserver {

  @Override
  public void released(
      TransferableProtocol protocol, String holder, long receivers, @Nullable String waiter) {
    long others = receivers;
    if (receivers > 0 && subscriptions.isHeard(protocol.channel(holder))) {
      others--;
    }
    String own = protocol.channelWhenQueued(holder);
    if (waiter != null && protocol.channelWhenQueued(waiter).equals(own)) {
      others--; // another thread of this client
    }
    fairness.onReleased(protocol, others, ticker.read());
    if (waiter != null) {
      notified.onNotified(protocol, waiter);
    }
  }

  @Override
  public void attempted(LockProtocol protocol, long sentNanos) {
    notified.onHeld(protocol, sentNanos);
  }
}
