package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.NotifyingProtocol;
import java.util.List;
import java.util.function.Predicate;

/**
 * Observes attempts and releases, so that other clients may acquire first: reports to {@link
 * ReleaseFairness} how many other clients have received a release message, and to {@link
 * NotifiedWaiters} who was notified.
 *
 * @param isHeard tests whether this client is a confirmed subscriber of a channel
 */
public record ReleaseObserver(
    Predicate<String> isHeard, ReleaseFairness fairness, NotifiedWaiters notified, Ticker ticker) {

  /**
   * Called after Redis has answered a release. If there was a hold, the reply has the number of
   * connections that received a message, and a third element if one waiter was notified alone.
   *
   * <p>The readers of this client that a write release has notified count as another client. They
   * enter before the next writer, so the writer's pause delays nobody else.
   */
  void replied(LockProtocol protocol, String holder, List<?> reply) {
    if ((Long) reply.get(0) != 1) {
      return;
    }
    if (protocol.allowsHandOff()) {
      long receivers = (Long) reply.get(1);
      boolean heardHere = receivers > 0 && isHeard.test(protocol.channel(holder));
      fairness.onReleased(protocol, heardHere ? receivers - 1 : receivers, ticker.read());
    }
    if (reply.size() > 2) {
      lookAfterNotified(protocol);
    }
  }

  /** Called after Redis has answered a forced release: a waiter may have been notified alone. */
  public void forced(LockProtocol protocol) {
    lookAfterNotified(protocol);
  }

  private void lookAfterNotified(LockProtocol protocol) {
    if (protocol instanceof NotifyingProtocol notifying) {
      notified.onNotified(notifying);
    }
  }

  /**
   * Called after Redis has answered an attempt, with the time before it was sent. No check is
   * needed while a Mortise client holds the lock: the end of its hold notifies the next waiter.
   * {@link AcquireResult.Busy} may mean a Redisson holder, which notifies none of ours.
   */
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
