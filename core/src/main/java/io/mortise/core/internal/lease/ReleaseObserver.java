package io.mortise.core.internal.lease;

import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LockProtocol;
import java.util.List;

/**
 * Observes attempts and releases, so that other clients may acquire first.
 *
 * <p><b>Threads.</b> Called by any thread that acquires or releases.
 */
public interface ReleaseObserver {

  /**
   * Called after Redis has answered the release.
   *
   * @param receivers the number of connections that received a message
   * @param notified whether one waiter was notified alone
   */
  void released(LockProtocol protocol, String holder, long receivers, boolean notified);

  /** Reports a release if Redis has answered that there was a hold. */
  default void replied(LockProtocol protocol, String holder, List<?> reply) {
    if ((Long) reply.get(0) == 1) {
      released(protocol, holder, (Long) reply.get(1), reply.size() > 2);
    }
  }

  /** Called after Redis has answered a forced release: a waiter may have been notified alone. */
  void forced(LockProtocol protocol);

  /** Called after Redis has answered an attempt, with the time before it was sent. */
  void attempted(LockProtocol protocol, AcquireResult result, long sentNanos);
}
