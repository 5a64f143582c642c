package io.mortise.core.internal.lease;

import io.mortise.core.spi.LockProtocol;

/** Learns of the releases of holds that pass on, so that other clients may go first. */
public interface ReleaseObserver {

  /**
   * A release is about to be sent.
   *
   * @return what to give to {@link #released}
   */
  long releasing(LockProtocol protocol, String holder);

  /**
   * Redis has answered the release.
   *
   * @param receivers how many connections got its message
   * @param before what {@link #releasing} gave
   */
  void released(LockProtocol protocol, String holder, long receivers, long before, long nowNanos);
}
