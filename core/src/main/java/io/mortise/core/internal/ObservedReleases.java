package io.mortise.core.internal;

import io.mortise.core.spi.LockProtocol;

/** Tells {@link Courtesy} how many of other clients have heard of a release. */
record ObservedReleases(Wakeups wakeups, Courtesy courtesy) implements ReleaseObserver {

  @Override
  public long releasing(LockProtocol protocol, String holder) {
    return wakeups.generation(() -> protocol.channel(holder));
  }

  @Override
  public void released(
      LockProtocol protocol, String holder, long receivers, long before, long nowNanos) {
    boolean itself = receivers > 0 && wakeups.isHeard(protocol.channel(holder));
    courtesy.released(protocol, itself ? receivers - 1 : receivers, before, nowNanos);
  }
}
