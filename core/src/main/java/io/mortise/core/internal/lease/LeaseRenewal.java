package io.mortise.core.internal.lease;

import io.mortise.connection.command.BatchItem;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.internal.event.AcquisitionEvents;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import io.mortise.scripts.ScriptCall;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews one hold. A hold that is not renewed, or not any more, is verified instead: Redis is asked
 * whether the hold is still there. {@link LossDetector} evaluates the replies.
 *
 * <p><b>Threads.</b> The scheduler sends the requests ({@link #onDue}), a worker delivers the
 * replies, and the owner may extend the hold at the same time ({@link LeaseExtension}); {@link
 * LeaseTiming} says why the order of the replies does not matter. The lease that a renewal may set
 * is noted before it is sent, so a lost reply leaves nothing behind that is not released. At most
 * one batched request is under way ({@code inFlight}). A reply after the end of the hold changes
 * nothing here.
 */
final class LeaseRenewal implements BatchItem {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseRenewal.class);
  static final long LOSS_CHECK_NANOS = 100_000_000L;
  private static final long RETRY_NANOS = 20_000_000L;
  private static final long MIN_TIMEOUT_NANOS = 100_000_000L;
  private static final String TOO_LONG = "it was held for longer than LockOptions.maxHold";
  private static final String SHARERS_DIED = "all threads that shared it ended without unlocking";

  private final LeaseContext context;
  private final HoldIdentity id;
  private final LeaseTiming timing;
  private final LeaseStateMachine state;
  private final LossDetector losses;
  private final RegisteredHold hold; // the whole hold, as it is registered
  private volatile @Nullable BooleanSupplier sharersDead; // null unless several threads share it
  private volatile @Nullable AcquisitionEvents events; // null while nobody listens
  private volatile boolean inFlight;
  private volatile long inFlightMillis;
  private volatile long inFlightEpoch;

  /**
   * Whether to verify the hold at once after the reply to the request under way. Read before {@code
   * inFlight}, which is set before this is cleared: one of the two shows an open verification.
   */
  private volatile boolean verificationRequested;

  /** Whether the request under way lengthens the hold; otherwise it only verifies it. */
  private volatile boolean inFlightLengthens;

  LeaseRenewal(
      LeaseContext context,
      HoldIdentity id,
      LeaseTiming timing,
      LeaseStateMachine state,
      LossDetector losses,
      RegisteredHold hold) {
    this.context = context;
    this.id = id;
    this.timing = timing;
    this.state = state;
    this.losses = losses;
    this.hold = hold;
  }

  /** Marks the hold as shared by several threads; {@code dead} tests whether all have died. */
  void setShared(BooleanSupplier dead) {
    sharersDead = dead;
  }

  /** Reports late renewals from now on. */
  void reportTo(AcquisitionEvents reported) {
    events = reported;
  }

  /** Returns what reports this hold; null while nobody listens. */
  @Nullable AcquisitionEvents events() {
    return events;
  }

  /** Returns whether the hold is renewed, without an open or failed request, and certain. */
  boolean isSettled() {
    return timing.isLengthened(context.nanos())
        && !verificationRequested
        && !inFlight
        && !losses.isFailing()
        && timing.isCertain();
  }

  long dueNanos() {
    return state.now().phase() == Phase.LOST
        ? timing.nextRequestNanos()
        : timing.dueNanos(inFlight);
  }

  /** Lets a request join the current batch in the last fifth of its interval. */
  long mayRunAtNanos() {
    if (inFlight) {
      return dueNanos();
    }
    return switch (state.now().phase()) {
      case HELD -> timing.nextRequestNanos() - timing.intervalNanos() / 5;
      // half the shortest pause after a fault
      case AT_RISK -> timing.nextRequestNanos() - timing.faultPauseNanos() / 4;
      default -> dueNanos();
    };
  }

  void onDue(long nowNanos) {
    if (!losses.statusNow().isLive() || inFlight) {
      timing.keepPlannedAhead(nowNanos);
      return;
    }
    BooleanSupplier dead = sharersDead;
    String abandoned = dead != null && dead.getAsBoolean() ? SHARERS_DIED : id.abandonedBecause();
    if (!timing.isStopped()) {
      if (abandoned != null) {
        stop(abandoned);
      } else if (timing.needsRenewal(nowNanos) && !timing.isLengthened(nowNanos)) {
        stop(TOO_LONG);
      }
    }
    if (abandoned == null) {
      sendRequest(nowNanos);
    } else { // nobody uses it, and would have to learn of its loss before the lease is over
      timing.setNextRequest(timing.deadlineNanos());
    }
  }

  private void sendRequest(long nowNanos) {
    boolean added = false;
    try {
      timing.planRequestAfter(nowNanos);
      inFlight = true;
      added = addRequest(nowNanos);
    } finally {
      if (!added) { // the hold has ended, or an error came, as when memory is exhausted
        timing.setNextRequest(nowNanos + RETRY_NANOS);
        inFlight = false;
      }
    }
  }

  /**
   * Adds a request to the batch, unless the hold has ended. It serves the verifications that were
   * requested before; a later one belongs to a later epoch, and gets a request of its own.
   */
  private boolean addRequest(long nowNanos) {
    verificationRequested = false;
    inFlightEpoch = context.holds().epoch();
    boolean lengthens = timing.isLengthened(nowNanos);
    inFlightMillis = lengthens ? timing.leaseMillis() : timing.remainingMillis();
    inFlightLengthens = lengthens;
    if (lengthens ? !timing.deadline().note(inFlightMillis) : timing.deadline().isOver()) {
      return false;
    }
    AcquisitionEvents reported = events;
    if (reported != null && lengthens) {
      reported.renewalSent(timing.nextRequestNanos());
    }
    context.batches().add(this);
    return true;
  }

  /** Stops the renewal: the hold is lost when its lease ends. Until then it is verified. */
  void stop(String why) {
    timing.stop(why);
    state.atRisk();
    context.log(
        () -> LOG.warn("lock '{}': the hold is not renewed any more: {}", id.lockName(), why));
  }

  /**
   * Reschedules the hold after the time of its next request was set. Corrects that time first: the
   * check after a loss is not put off, and a requested verification comes at once. A thread that
   * makes the hold lost, or requests one, sets the time after that; this one looks for both then.
   */
  private void reschedule() {
    boolean lost = state.now().phase() == Phase.LOST;
    if (lost || verificationRequested) {
      timing.setNextRequest(context.nanos() + (lost ? LOSS_CHECK_NANOS : 0));
    }
    context.scheduler().reschedule(hold);
  }

  /** Requests a verification soon; if a request is under way, after its reply. */
  void requestVerification() {
    verificationRequested = true;
    timing.setNextRequest(context.nanos());
    context.scheduler().reschedule(hold);
  }

  /** Makes the next request due within one interval from now. */
  void requestWithinInterval() {
    long next = timing.nextRequestAfter(context.nanos());
    if (next - timing.nextRequestNanos() < 0) {
      timing.setNextRequest(next);
    }
    reschedule();
  }

  /** Schedules the check after a loss: whether its listeners are notified. */
  void scheduleLossCheck() {
    timing.setNextRequest(context.nanos() + LOSS_CHECK_NANOS);
    context.scheduler().reschedule(hold);
  }

  @Override
  public ScriptCall call() {
    return id.protocol().renew(id.holder(), inFlightMillis);
  }

  /** A verification that has waited names the rest of the lease again, and lengthens nothing. */
  @Override
  public ScriptCall callToSend(ScriptCall added) {
    if (inFlightLengthens) {
      return added;
    }
    inFlightMillis = Math.min(inFlightMillis, timing.remainingMillis());
    return call();
  }

  @Override
  public boolean isWanted() {
    return losses.statusNow().isLive();
  }

  @Override
  public long deadlineNanos() {
    return timing.deadlineNanos();
  }

  @Override
  public long withinNanos() {
    return Math.max(MIN_TIMEOUT_NANOS, timing.leaseNanos() / 3);
  }

  @Override
  public void onReply(long answer, long sentNanos) {
    long millis = inFlightLengthens ? inFlightMillis : 0;
    boolean applied = false;
    try {
      timing.setNextRequest(timing.nextRequestAfterReply(sentNanos));
      losses.noteVerification(inFlightMillis - millis, true);
      applyReply(answer, sentNanos, millis, inFlightEpoch);
      applied = true;
    } finally {
      if (!applied) {
        losses.onUnappliedReply(sentNanos);
      }
      inFlight = false; // not before: until then the hold is not settled
      reschedule();
    }
  }

  /** Returns whether a verification is under way. One that ended without an error is noted. */
  boolean isVerifying() {
    return inFlight && !inFlightLengthens;
  }

  /** Handles the reply to any request to renew or verify the hold. */
  void applyReply(long answer, long sentNanos, long millis, long epochBefore) {
    if (losses.onReply(answer, sentNanos, millis, epochBefore)) {
      AcquisitionEvents reported = events;
      if (reported != null) {
        reported.renewed(timing.leaseNanos() / 3);
      }
    }
  }

  @Override
  public void onFailure(CommandException fault) {
    try {
      losses.onNoReply();
      losses.noteVerification(isVerifying() && fault.mayHaveExecuted() ? inFlightMillis : 0, false);
      timing.setNextRequest(
          context.nanos() + (long) (timing.faultPauseNanos() * (0.5 + context.random() / 2)));
    } finally {
      inFlight = false;
      reschedule(); // before the events
    }
    AcquisitionEvents reported = events;
    if (reported != null && timing.isRenewed()) {
      reported.renewalFailed(fault);
    }
    if (state.atRisk()) { // logged off this thread, which may be the scheduler's
      context.log(() -> context.failedRenewals().log(id.lockName(), fault));
    }
  }

  @Override
  public String toString() {
    return "renewal of " + hold;
  }
}
