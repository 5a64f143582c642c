package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.core.LeaseLoss.Reason;

/**
 * Detects that one hold is lost: by the clock, and by the replies to the requests that renew or
 * verify it.
 *
 * <p><b>Threads.</b> Any thread may call any method. Each thread that reads the status compares the
 * clock with the deadline first. A worker delivers the replies to batched requests, and the owner
 * applies those for which it waits; {@link LeaseTiming} says why their order does not matter.
 * {@link LeaseDeadline} decides between a reply that lengthens the hold and its expiry. A reply
 * after the end of the hold changes nothing here.
 */
final class LossDetector {
  static final String BY_FORCE = "somebody took the lock by force";

  private final Ticker ticker;
  private final LeaseTiming timing;
  private final LeaseStateMachine state;
  private final RegisteredHold hold;

  /** Whether the last request had no reply, or one that did not confirm the hold. */
  private volatile boolean failing;

  LossDetector(Ticker ticker, LeaseTiming timing, LeaseStateMachine state, RegisteredHold hold) {
    this.ticker = ticker;
    this.timing = timing;
    this.state = state;
    this.hold = hold;
  }

  /** Returns the status of the hold, which is lost if its deadline has passed. */
  LeaseStatus statusNow() {
    LeaseStatus status = state.now();
    return status.isLive() && expireIfDue() ? state.now() : status;
  }

  /** Makes the hold lost if its deadline has passed, for good; returns whether it has. */
  private boolean expireIfDue() {
    LeaseDeadline deadline = timing.deadline();
    if (!deadline.expire(ticker.read())) {
      return false;
    }
    hold.lose(Reason.EXPIRED, deadline.nanos(), whyExpired(timing));
    return true;
  }

  static String whyExpired(LeaseTiming timing) {
    if (timing.isStopped()) {
      return "it was not renewed any more, because " + timing.stoppedBecause();
    }
    return timing.isRenewed()
        ? ("no renewal succeeded in the last %d ms; if Redis was reachable, this process was"
                + " suspended")
            .formatted(timing.leaseMillis())
        : ("its lease of %d ms ran out before it was released; give a longer one, or none to have"
                + " it renewed. If it is meant to run out, use atLeast(lease), and release it early")
            .formatted(timing.leaseMillis());
  }

  /**
   * A hold whose renewal has stopped stays at risk. A thread that stops it does that first, and
   * makes the hold at risk then; this one makes it held, and then looks.
   */
  private void confirmed() {
    if (!timing.isStopped()) {
      var unused = state.renewedInTime();
      if (timing.isStopped()) {
        state.atRisk();
      }
    }
  }

  /** Returns whether the last request had no reply, or one that did not confirm the hold. */
  boolean isFailing() {
    return failing;
  }

  /** Notes that a request had no reply; the next confirmation ends that. */
  void onNoReply() {
    failing = true;
  }

  /** Notes that an error came before a reply, which may have said that the hold is gone. */
  void onUnappliedReply(long sentNanos) {
    failing = true;
    timing.setNextRequest(sentNanos + LeaseRenewal.LOSS_CHECK_NANOS);
  }

  /**
   * Notes a verification that reaches Redis late: the hold lasts there for the rest of its lease
   * from then on. One that was answered soon lengthens nothing, as far as the clocks agree.
   *
   * @param millis the rest of the lease that it has named; 0 when it was none
   * @param answered whether Redis has answered it by now
   */
  void noteVerification(long millis, boolean answered) {
    if (millis > 0 && !(answered && isNotLongerThanBefore(millis))) {
      var unused = timing.deadline().note(millis);
    }
  }

  /** Returns whether a hold that lasts for that time from now on ends no later than it would. */
  private boolean isNotLongerThanBefore(long millis) {
    return ticker.read() + millis * 1_000_000 - timing.endInRedisNanos() <= 0;
  }

  /**
   * Handles the reply to any request to renew or verify the hold; see {@link LeaseTiming#confirm}.
   *
   * @return whether the hold is there, and has not ended meanwhile
   */
  boolean onReply(long answer, long sentNanos, long millis, long epochBefore) {
    if (answer == 1) {
      if (!timing.confirm(sentNanos, millis, epochBefore)) {
        return false;
      }
      failing = false;
      confirmed();
      return true;
    }
    failing = true; // a release under way cannot lose the hold any more, and must not hand it off
    if (answer == 2) {
      hold.lose(Reason.FORCED, ticker.read(), BY_FORCE);
    } else if (!expireIfDue()) { // a hold that has just expired is no loss of data
      hold.lose(
          Reason.MISSING,
          ticker.read(),
          "Redis does not know this hold any more; it lost its data, or the key was deleted");
    }
    return false;
  }
}
