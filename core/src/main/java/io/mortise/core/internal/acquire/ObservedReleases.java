package io.mortise.core.internal.acquire;

import io.mortise.connection.pubsub.Subscriptions;
import io.mortise.core.internal.lease.ReleaseObserver;
import io.mortise.core.spi.LockProtocol;

/** Reports to {@link ReleaseFairness} how many other clients have received a release message. */
public record ObservedReleases(Subscriptions subscriptions, ReleaseFairness fairness)
    implements ReleaseObserver {

  @Override
  public long releasing(LockProtocol protocol, String holder) {
    return subscriptions.generation(() -> protocol.channel(holder));
  }

  @Override
  public void released(
      LockProtocol protocol, String holder, long receivers, long before, long nowNanos) {
    boolean heardHere = receivers > 0 && subscriptions.isHeard(protocol.channel(holder));
    fairness.onReleased(protocol, heardHere ? receivers - 1 : receivers, before, nowNanos);
  }
}
