package io.mortise.core.internal.lease;

import io.mortise.core.spi.LockProtocol;

/**
 * Observes the releases of locks whose holds are handed off, so that other clients may acquire
 * first.
 *
 * <p><b>Threads.</b> Called by any thread that releases a hold.
 */
public interface ReleaseObserver {

  /**
   * Called before a release is sent.
   *
   * @return the value to pass to {@link #released}
   */
  long releasing(LockProtocol protocol, String holder);

  /**
   * Called after Redis has answered the release.
   *
   * @param receivers the number of connections that received the release message
   * @param before the value that {@link #releasing} returned
   */
  void released(LockProtocol protocol, String holder, long receivers, long before, long nowNanos);
}
