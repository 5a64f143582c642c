package io.mortise.core.internal.lease;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.core.spi.RunProtocol;

/**
 * Ends a hold that is lost. At every end of a hold, also at its release by {@link LeaseRelease}, it
 * gives up the slot in the local queue, once. If Redis may still have the hold, it has that
 * released in the background.
 *
 * <p><b>What Redis may keep.</b> Example: thread A sends a renewal whose reply is delayed; thread B
 * finds the deadline passed. A has noted the renewal at the {@link LeaseDeadline} before it was
 * sent. B makes the deadline over, then looks at the note, and has the hold released in the
 * background. The rule: the thread that makes a hold expired looks at the note after that. An
 * extension never creates a hold that is missing, so the first release that Redis answers is
 * enough, in whatever order the two arrive. A verification names the rest of the lease, and so
 * lengthens the hold when it arrives late: it counts as an extension until it was answered in time.
 * One for which a thread waits ({@link LeaseExtension}) is noted before it is sent, and always
 * counts.
 *
 * <p><b>Threads.</b> Any thread may end the hold. One thread makes the change to LOST or RELEASING,
 * in {@link LeaseStateMachine}, and gives up its slot in the local queue. A lost hold stays in the
 * scheduler until its listeners are notified, whether or not its owner has unlocked it: a thread of
 * a pool may live for ever, and an error may have kept it from that. The methods of the section
 * "before the lease is published" are called by the acquiring thread only.
 */
public final class LeaseTermination {
  /** How long an unanswered removal of a place is repeated. */
  private static final long LEAVE_NANOS = 30_000_000_000L;

  private final BackgroundReleaser releases;
  private final HoldIdentity id;
  private final FencingToken token;
  private final LeaseTiming timing;
  private final LeaseStateMachine state;
  private final LeaseRenewal renewal;
  private final LeaseSlot slot;

  /** Whether what Redis may keep of a lost hold is being released, or it keeps nothing. */
  private volatile boolean abandoned;

  /** The attempts before the one that was granted. */
  private volatile UnansweredAttempts unanswered = UnansweredAttempts.NONE;

  LeaseTermination(
      BackgroundReleaser releases,
      LeaseSlot slot,
      HoldIdentity id,
      FencingToken token,
      LeaseTiming timing,
      LeaseStateMachine state,
      LeaseRenewal renewal) {
    this.releases = releases;
    this.slot = slot;
    this.id = id;
    this.token = token;
    this.timing = timing;
    this.state = state;
    this.renewal = renewal;
  }

  // ---- before the lease is published

  /** Allows hand-offs with this number of tokens, the one of this hold included. */
  public void reserveTokens(int tokens) {
    if (tokens > 1) {
      slot.reserveTokensUntil(token.get() + tokens - 1);
    }
  }

  /** Hands the slot over to the hold; gives it up at once if the hold has ended by now. */
  public void setSlot(QueueSlot taken) {
    slot.set(taken);
    releaseSlotIfEnded();
  }

  /**
   * Adds the attempts before the one that was granted, once the hold is registered. Has them
   * released at once if the hold was lost meanwhile. This is "publish, then look": a thread that
   * ends the hold makes it lost, and then looks for these attempts.
   */
  public void setUnanswered(UnansweredAttempts attempts) {
    unanswered = attempts;
    if (attempts.exists() && state.now().phase() == Phase.LOST) {
      releaseInBackground(); // twice if both see it, which only costs commands
    }
  }

  /**
   * Ends a lease object that no caller has received, and leaves the hold in Redis alone: the
   * acquisition continues under the same holder id, so nothing may be released.
   */
  void discard() {
    if (state.beginRelease()) {
      state.endRelease(null);
    }
  }

  // ---- loss

  /** Ends the hold as lost; returns false if it has ended or its release has begun. */
  boolean lose(Reason reason, long atNanos, String detail) {
    LeaseLoss loss = lossOf(reason, atNanos, detail);
    try {
      if (!state.lose(loss)) {
        return false;
      }
      timing.deadline().end();
      if (reason == Reason.FORCED) {
        timing.minimum().waive(); // what a late attempt creates is released at once
      }
      renewal.scheduleLossCheck();
      return true;
    } finally {
      // Lost by this call, also if an error follows; what that keeps from here completeEnd does.
      if (loss.equals(state.now().loss())) {
        try {
          releaseSlotIfEnded(); // otherwise the release under way gives it up
        } finally {
          abandonIfRedisMayKeepIt(loss);
        }
      }
    }
  }

  /**
   * Completes a loss that an error has interrupted, and notifies the listeners that could not be
   * notified before. The scheduler calls it, again and again.
   *
   * @return whether the lost hold may leave the scheduler: all are notified
   */
  boolean completeLoss(long nowNanos) {
    timing.setNextRequest(nowNanos + LeaseRenewal.LOSS_CHECK_NANOS);
    completeEnd();
    return state.deliver();
  }

  /** Redis has answered the release: it keeps nothing of the hold, whether that was lost or not. */
  void releaseAnswered() {
    abandoned = true;
  }

  /** Completes the end of a lost hold, if an error has kept the thread that lost it from that. */
  void completeEnd() {
    LeaseLoss loss = state.now().loss();
    if (loss != null) {
      releaseSlotIfEnded();
      if (!abandoned) { // twice if the thread is at it, which only costs commands
        abandonIfRedisMayKeepIt(loss);
      }
    }
  }

  private void abandonIfRedisMayKeepIt(LeaseLoss loss) {
    boolean mayOutlive = renewal.isVerifying() || timing.deadline().mayOutlive();
    if (loss.reason() == Reason.MISSING && !unanswered.exists()) {
      leaveQueue(loss.atNanos());
    } else if (unanswered.exists()
        || RunProtocol.hasServed(id.protocol())
        || (loss.reason() == Reason.EXPIRED && mayOutlive)) {
      releaseInBackground();
    }
    abandoned = true;
  }

  /**
   * Removes the places of a hold that Redis does not know. A server that has lost the grant, as
   * after a failover, may still have the place that the acquisition had before, and the places of
   * waiters that the hold has served.
   */
  void leaveQueue(long nowNanos) {
    if (id.protocol() instanceof QueueingProtocol) {
      UnansweredAttempts none = UnansweredAttempts.NONE.plusHold(nowNanos + LEAVE_NANOS);
      releases.releaseUntilConfirmed(id.protocol(), id.holder(), none);
    }
  }

  // ---- for every end

  LeaseLoss lossOf(Reason reason, long atNanos, String detail) {
    return new LeaseLoss(id.lockName(), token.get(), reason, atNanos, detail);
  }

  LeaseSlot slot() {
    return slot;
  }

  UnansweredAttempts unanswered() {
    return unanswered;
  }

  /**
   * Gives the slot up if the hold has ended, once, whichever thread sees the end. Called in a
   * {@code finally} wherever a hold ends: an error, such as a failure to start a thread, must not
   * block the local queue for ever.
   */
  void releaseSlotIfEnded() {
    Phase phase = state.now().phase();
    if (phase == Phase.LOST || phase == Phase.RELEASED) {
      slot.release();
    }
  }

  /** Has the hold that Redis may still keep released in the background. */
  void releaseInBackground() {
    releases.releaseUntilConfirmed(
        id.protocol(),
        id.holder(),
        unanswered.plusHold(timing.endInRedisNanos()),
        timing.minimum());
  }
}
