package io.mortise.core.internal.acquire;

import io.mortise.connection.pubsub.Subscriptions;
import io.mortise.core.internal.lease.ReleaseObserver;
import io.mortise.core.spi.LockProtocol;

/** Tells {@link ReleaseFairness} how many of other clients have heard of a release. */
public record ObservedReleases(Subscriptions wakeups, ReleaseFairness courtesy)
    implements ReleaseObserver {

  @Override
  public long releasing(LockProtocol protocol, String holder) {
    return wakeups.generation(() -> protocol.channel(holder));
  }

  @Override
  public void released(
      LockProtocol protocol, String holder, long receivers, long before, long nowNanos) {
    boolean itself = receivers > 0 && wakeups.isHeard(protocol.channel(holder));
    courtesy.onReleased(protocol, itself ? receivers - 1 : receivers, before, nowNanos);
  }
}
