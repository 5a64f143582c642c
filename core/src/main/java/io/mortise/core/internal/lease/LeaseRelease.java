package io.mortise.core.internal.lease;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockException;
import io.mortise.core.internal.event.AcquisitionEvents;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases one hold: hands it off to the next acquisition in the local queue, or releases it in
 * Redis. Before the end of its {@link MinimumEnd minimum} it is not handed off, and the release
 * keeps the lock busy for the rest.
 *
 * <p><b>Threads.</b> Any thread may release the hold. The thread that makes the change to
 * RELEASING, in {@link LeaseStateMachine}, is the releasing thread: it alone uses the fields that
 * are not volatile. A release that an error has interrupted is completed by a worker, see {@link
 * Completions}.
 */
final class LeaseRelease implements Completions.Operation {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseRelease.class);

  /** The answer that there was no hold, but a registration, which a late attempt has left. */
  private static final long ONLY_WAITED = 3;

  private final LeaseContext context;
  private final HoldIdentity id;
  private final FencingToken token;
  private final LeaseTiming timing;
  private final LeaseStateMachine state;
  private final LossDetector losses;
  private final LeaseRenewal renewal;
  private final LeaseTermination termination;
  private final RegisteredHold hold;

  /** Whether a release has begun that Redis has not confirmed. */
  private boolean unconfirmed;

  /** A hold that nobody has taken; kept until its release has begun. */
  private @Nullable TransferableHold unclaimed;

  /** Whether the release counts as an operation that is under way. */
  private boolean counted;

  /** Whether an error has kept the thread from completing the release. */
  private volatile boolean broken;

  LeaseRelease(
      LeaseContext context,
      HoldIdentity id,
      FencingToken token,
      LeaseTiming timing,
      LeaseStateMachine state,
      LossDetector losses,
      LeaseRenewal renewal,
      LeaseTermination termination,
      RegisteredHold hold) {
    this.context = context;
    this.id = id;
    this.token = token;
    this.timing = timing;
    this.state = state;
    this.losses = losses;
    this.renewal = renewal;
    this.termination = termination;
    this.hold = hold;
  }

  /** Releases the hold, once; returns whether this call did it. */
  boolean release() {
    if (!begin()) {
      return false;
    }
    try {
      if (!tryHandOff()) {
        onReply(context.commands().run(call()));
      }
      return true;
    } catch (CommandException fault) {
      throw noReply(fault);
    } finally {
      ensureEnded();
    }
  }

  /** Gives the hold up: it is released in the background, without notification. */
  void drop() {
    if (begin()) {
      ensureEnded();
    }
  }

  /**
   * Begins the release; returns whether this caller has to complete it: then it must call {@link
   * #onReply} if there is a reply, and {@link #ensureEnded} in any case.
   */
  boolean begin() {
    losses.statusNow(); // a hold whose deadline has passed is lost, and not released
    context.operations().begin();
    boolean begun = false;
    try {
      begun = state.beginRelease();
    } finally {
      if (!begun) {
        context.operations().end();
      }
    }
    if (!begun) {
      return false;
    }
    counted = true;
    unconfirmed = true;
    try {
      context.completions().begin(this);
      context.holds().forget(hold); // not before: a hold that is not entered enters itself later
      return true;
    } catch (Throwable e) {
      ensureEnded();
      throw e;
    }
  }

  /** Returns the release as it has to be sent now. */
  ScriptCall call() {
    return id.releaseCall(timing.minimum(), context.nanos());
  }

  // ---- the hand-off

  /**
   * Hands the hold off to the next acquisition in the local queue, if there is one and the hold may
   * be handed off: it has no open questions, and is within the limits for the number and time of
   * hand-offs. No command is sent, unless the last waiter leaves the queue before it takes the
   * hold: then the hold is released, here or by that waiter. Here its owner learns of a fault or a
   * loss; the state stays released.
   *
   * <p>Example: the scheduler sends a renewal while this thread hands the hold off, and Redis does
   * not know the hold. The reply first sets the time of the next request, and then marks the hold
   * as failing. This thread first reads that time, and then looks whether the hold is settled. So
   * either it sees the failure and does not hand off, or the next holder inherits the time at which
   * this renewal was due, and asks Redis then. An interval from now would be too late.
   */
  private boolean tryHandOff() throws CommandException {
    LeaseSlot slot = termination.slot();
    if (!slot.mayHandOff(token.get())
        || termination.unanswered().exists()
        || token.wasRaised()
        || timing.minimum().leftMillis(context.nanos()) > 0) {
      return false;
    }
    TransferableHold transferred =
        timing.toTransferableHold(id.holder(), token.get(), slot.reserveAfterHandOff());
    if (!renewal.isSettled()) { // not before: the hold to hand off has the times from before
      return false;
    }
    Runnable beforeOffer = () -> unconfirmed = false; // then the next thread may have it
    slot.detach();
    AcquisitionEvents events = renewal.events();
    if (events != null) {
      events.handedOver();
    }
    state.endRelease(null);
    TransferableHold untaken = slot.handOff(transferred, beforeOffer); // this hold, or a later one
    unconfirmed = false;
    if (untaken != null) {
      unclaimed = untaken; // until there is a reply: without one it is released in the background
      LockException inDoubt = releaseUntaken(untaken, untaken.equals(transferred));
      unclaimed = null;
      throwIfPresent(inDoubt);
    }
    return true;
  }

  /** Returns what the owner of the hold has to know. The owner of a later hold has left. */
  private @Nullable LockException releaseUntaken(TransferableHold untaken, boolean isOwn)
      throws CommandException {
    if (isOwn) {
      LockException inDoubt = interpretReply(context.commands().run(call()));
      termination.releaseAnswered();
      return inDoubt;
    }
    context.releases().releaseNow(id.protocol(), untaken, context.commands().timeoutNanos());
    return null;
  }

  // ---- the reply

  /** Completes the release after its reply; throws if it is in doubt. */
  void onReply(Reply reply) {
    LockException inDoubt = interpretReply(reply);
    UnansweredAttempts unanswered = termination.unanswered();
    if (unanswered.exists()) {
      context.releases().releaseUntilConfirmed(id.protocol(), id.holder(), unanswered);
    } else if ((Long) ((List<?>) reply.value()).get(0) == 0) {
      termination.leaveQueue(context.nanos());
    }
    termination.releaseAnswered();
    unconfirmed = false; // not before: after an error the release is repeated
    throwIfPresent(inDoubt);
  }

  private static void throwIfPresent(@Nullable LockException inDoubt) {
    if (inDoubt != null) {
      throw inDoubt;
    }
  }

  /** Ends the hold by the reply to its release; returns that the release is in doubt, if it is. */
  private @Nullable LockException interpretReply(Reply reply) {
    List<?> fields = (List<?>) reply.value();
    long answer = (Long) fields.get(0);
    long status = answer == ONLY_WAITED ? 0 : answer;
    LeaseLoss loss = null;
    LockException inDoubt = null;
    if (status == 2) {
      loss = termination.lossOf(Reason.FORCED, context.nanos(), LossDetector.BY_FORCE);
    } else if (status == 0 && !reply.repeated()) {
      loss = missingLoss();
    } else if (status == 0) {
      inDoubt = LockExceptions.inDoubt(id.protocol().name(), reply);
    } else if (status == 1 && (Long) fields.get(1) < 0) {
      LOG.warn(
          "lock '{}': released, but its waiters could not be notified; the user needs the right to"
              + " its channel",
          id.lockName());
    }
    state.endRelease(loss);
    context.observer().replied(id.protocol(), id.holder(), fields);
    return inDoubt;
  }

  /** Returns the loss of a hold that Redis does not know: its lease is over, or Redis lost it. */
  private LeaseLoss missingLoss() {
    LeaseDeadline deadline = timing.deadline();
    return deadline.expire(context.nanos())
        ? termination.lossOf(
            Reason.EXPIRED, deadline.nanos(), "its lease ran out while it was being released")
        : termination.lossOf(
            Reason.MISSING, context.nanos(), "Redis did not know this hold when it was released");
  }

  /**
   * Returns what the caller of a release without a reply gets; {@link #ensureEnded} completes it.
   */
  LockException noReply(CommandException fault) {
    return LockExceptions.unconfirmed(
        fault, id.protocol().name(), timing.endInRedisNanos() - context.nanos());
  }

  // ---- after an error

  /** Completes a release that an error has interrupted, as without a reply. */
  void ensureEnded() {
    boolean ended = false;
    try {
      complete();
      ended = true;
    } finally {
      broken = !ended; // no call: there may be no stack for one
    }
  }

  @Override
  public boolean isBroken() {
    return broken;
  }

  @Override
  public void complete() {
    if (unconfirmed) {
      state.endRelease(null);
      termination.releaseInBackground();
      unconfirmed = false;
    }
    if (unclaimed == null) {
      unclaimed = termination.slot().complete();
    }
    TransferableHold untaken = unclaimed;
    if (untaken != null) {
      context.releases().releaseInBackground(id.protocol(), untaken);
      unclaimed = null;
    }
    if (counted) {
      context.operations().end();
      counted = false;
    }
    context.completions().end(this);
  }
}
