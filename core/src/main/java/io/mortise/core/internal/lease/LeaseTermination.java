package io.mortise.core.internal.lease;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockException;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import io.mortise.core.spi.LockProtocol;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends one hold: the hold is lost, released, or handed off to the next acquisition in the local
 * queue.
 *
 * <p><b>What Redis may keep.</b> Example: thread A sends a renewal whose reply is delayed; thread B
 * finds the deadline passed. A has noted the renewal at the {@link LeaseDeadline} before it was
 * sent. B makes the deadline over, then looks at the note, and has the hold released in the
 * background. The rule: the thread that makes a hold expired looks at the note after that. An
 * extension never creates a hold that is missing, so the first release that Redis answers is
 * enough, in whatever order the two arrive.
 *
 * <p><b>Threads.</b> Any thread may end the hold. The thread that makes the change to LOST or
 * RELEASING, in {@link LeaseStateMachine}, does what belongs to it, once: it removes the hold from
 * the scheduler (a lost hold with an owner stays there, for the check whether the owner lives) and
 * gives up its slot in the local queue. The methods of the section "before the lease is published"
 * are called by the acquiring thread only. A release that an error has interrupted is completed by
 * a worker, see {@link Completions}.
 */
public final class LeaseTermination implements Completions.Operation {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseTermination.class);

  static final String BY_FORCE = "somebody took the lock by force";

  private final LeaseContext context;
  private final RedisLease lease;
  private final LeaseStateMachine state;

  /**
   * The slot to give up when the hold ends. Set before the lease is published; the thread that
   * gives the slot up takes it from here.
   */
  private final AtomicReference<@Nullable QueueSlot> slotReference = new AtomicReference<>();

  /** The tokens for hand-offs. Set before the lease is published. */
  private TransferableHold.TokenReserve tokenReserve = TransferableHold.TokenReserve.NONE;

  /** The slot that is being left; the releasing thread's, as the two fields that follow. */
  private @Nullable QueueSlot leaving;

  /** Whether a release has begun that Redis has not confirmed. */
  private boolean unconfirmed;

  /** Whether the release counts as an operation that is under way. */
  private boolean counted;

  /** Whether an error has kept the thread from completing the release. */
  private volatile boolean broken;

  /** The attempts before the one that was granted. */
  private volatile UnansweredAttempts unanswered = UnansweredAttempts.NONE;

  /** The generation of the channel before the release; used by the releasing thread only. */
  private long channelGeneration;

  LeaseTermination(LeaseContext context, RedisLease lease, LeaseStateMachine state) {
    this.context = context;
    this.lease = lease;
    this.state = state;
  }

  // ---- before the lease is published

  /** Allows hand-offs with this number of tokens, the one of this hold included. */
  public void reserveTokens(int tokens) {
    if (tokens > 1) {
      reserveTokens(
          new TransferableHold.TokenReserve(lease.fencingToken() + tokens - 1, context.nanos(), 0));
    }
  }

  public void reserveTokens(TransferableHold.TokenReserve reserve) {
    tokenReserve = reserve;
  }

  /** Hands the slot over to the hold; gives it up at once if the hold has ended by now. */
  public void setSlot(QueueSlot slot) {
    slotReference.set(slot);
    releaseSlotIfEnded();
  }

  public void setUnanswered(UnansweredAttempts attempts) {
    unanswered = attempts;
  }

  // ---- loss

  /** Ends the hold as lost; returns false if it has ended or its release has begun. */
  public boolean lose(Reason reason, long atNanos, String detail) {
    LeaseLoss loss = lossOf(reason, atNanos, detail);
    try {
      if (!state.lose(loss)) {
        return false;
      }
      lease.renewal().deadline().end();
      if (lease.owner() == null) {
        context.scheduler().remove(lease.renewal());
      } else {
        lease.renewal().scheduleOwnerCheck();
      }
      return true;
    } finally {
      try {
        releaseSlotIfEnded();
      } finally {
        if (loss.equals(state.now().loss())) { // lost by this call, also if an error follows
          abandonIfRedisMayKeepIt(loss);
        }
      }
    }
  }

  private void abandonIfRedisMayKeepIt(LeaseLoss loss) {
    boolean mayOutlive = lease.renewal().deadline().mayOutlive();
    if (unanswered.exists() || (loss.reason() == Reason.EXPIRED && mayOutlive)) {
      releaseInBackground();
    }
  }

  /**
   * Ends a lease object that no caller has received, and leaves the hold in Redis alone: the
   * acquisition continues under the same holder id, so nothing may be released.
   */
  public void discard() {
    if (state.beginRelease()) {
      state.endRelease(null);
    }
  }

  /**
   * Gives up a hold that no caller has received: it is released in the background, without
   * notification.
   */
  public void drop() {
    if (begin()) {
      ensureEnded();
    }
  }

  /**
   * Gives the slot up if the hold has ended, once, whichever thread sees the end. Called in a
   * {@code finally} wherever a hold ends: an error, such as a failure to start a thread, must not
   * block the local queue for ever.
   */
  private void releaseSlotIfEnded() {
    Phase phase = state.now().phase();
    if (phase == Phase.LOST || phase == Phase.RELEASED) {
      releaseSlot();
    }
  }

  private void releaseSlot() {
    QueueSlot slot = slotReference.getAndSet(null);
    if (slot != null) {
      leaving = slot;
      slot.release();
      leaving = null;
    }
  }

  private LeaseLoss lossOf(Reason reason, long atNanos, String detail) {
    return new LeaseLoss(lease.lockName(), lease.fencingToken(), reason, atNanos, detail);
  }

  // ---- release

  /** Releases the hold, once; returns whether this call did it. */
  boolean release() {
    if (!begin()) {
      return false;
    }
    try {
      if (!tryHandOff(this::releaseUnclaimed)) {
        onReply(context.commands().run(lease.releaseCall()));
      }
      return true;
    } catch (CommandException fault) {
      throw onNoReply(fault);
    } finally {
      ensureEnded();
    }
  }

  /**
   * Hands the hold off to the next acquisition in the local queue, if there is one and the hold may
   * be handed off: it has no open questions, and is within the limits for the number and time of
   * hand-offs. No command is sent.
   *
   * @param releaser releases the hold if the last waiter left the queue before it took the hold
   */
  boolean tryHandOff(BiConsumer<LockProtocol, TransferableHold> releaser) {
    QueueSlot slot = slotReference.get();
    if (slot == null || !slot.hasWaiters() || !isTransferable()) {
      return false;
    }
    if (!lease.renewal().isSettled()) {
      return false;
    }
    TransferableHold hold =
        lease.renewal().toTransferableHold(lease.fencingToken(), tokenReserve.next());
    slotReference.set(null); // while RELEASING no other thread takes it
    leaving = slot;
    state.endRelease(null);
    unconfirmed = false; // from here on the next thread in the queue may have it
    TransferableHold unclaimed = slot.handOff(hold);
    leaving = null;
    if (unclaimed != null) {
      releaser.accept(lease.protocol(), unclaimed);
    }
    return true;
  }

  private void releaseUnclaimed(LockProtocol protocol, TransferableHold unclaimed) {
    context.releases().releaseNow(protocol, unclaimed, context.commands().timeoutNanos());
  }

  private boolean isTransferable() {
    return !unanswered.exists()
        && lease.fencingToken() < tokenReserve.lastToken()
        && !lease.wasRaised()
        && tokenReserve.handOffs() < context.options().maxHandOffs()
        && context.nanos() - tokenReserve.sinceNanos()
            < context.options().maxHandOffTime().toNanos()
        && !context.isClosed();
  }

  /**
   * Begins the release; returns whether this caller has to complete it: then it must call {@link
   * #onReply} or {@link #onNoReply}, and {@link #ensureEnded} in any case.
   */
  boolean begin() {
    lease.checkDeadline();
    context.operations().begin();
    if (!state.beginRelease()) {
      context.operations().end();
      return false;
    }
    counted = true;
    unconfirmed = true;
    boolean begun = false;
    try {
      context.completions().begin(this);
      context.scheduler().remove(lease.renewal());
      if (lease.protocol().allowsTransfer()) {
        channelGeneration = context.observer().releasing(lease.protocol(), lease.holder());
      }
      begun = true;
      return true;
    } finally {
      if (!begun) {
        ensureEnded();
      }
    }
  }

  /**
   * Completes the release after its reply.
   *
   * @throws LockException if it is in doubt whether the hold was still there
   */
  void onReply(Reply reply) {
    LockException inDoubt = null;
    try {
      inDoubt = interpretReply(reply);
    } finally {
      releaseSlotIfEnded();
    }
    if (unanswered.exists()) {
      context.releases().releaseUntilConfirmed(lease.protocol(), lease.holder(), unanswered);
    }
    if (inDoubt != null) {
      throw inDoubt;
    }
  }

  /**
   * Completes the release without a reply: it is repeated in the background. Returns the exception
   * for the caller.
   */
  LockException onNoReply(CommandException fault) {
    try {
      state.endRelease(null);
      releaseInBackground();
      unconfirmed = false;
    } finally {
      releaseSlotIfEnded();
    }
    return context
        .releases()
        .unconfirmedException(lease.protocol().name(), fault, lease.renewal().endInRedisNanos());
  }

  /**
   * Completes a release that an error has interrupted, as if there was no reply; gives up the slot
   * in any case.
   */
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
      releaseInBackground();
      unconfirmed = false;
    }
    QueueSlot left = leaving;
    if (left != null) {
      left.release();
      leaving = null;
    }
    releaseSlot();
    if (counted) {
      context.operations().end();
      counted = false;
    }
    context.completions().end(this);
  }

  /** Has the hold that Redis may still keep released in the background. */
  private void releaseInBackground() {
    context
        .releases()
        .releaseUntilConfirmed(
            lease.protocol(),
            lease.holder(),
            unanswered.plusHold(lease.renewal().endInRedisNanos()));
  }

  /** Returns the loss of a hold that Redis does not know: its lease is over, or Redis lost it. */
  private LeaseLoss missingLoss() {
    LeaseDeadline deadline = lease.renewal().deadline();
    return deadline.expire(context.nanos())
        ? lossOf(Reason.EXPIRED, deadline.nanos(), "its lease ran out while it was being released")
        : lossOf(
            Reason.MISSING, context.nanos(), "Redis did not know this hold when it was released");
  }

  private @Nullable LockException interpretReply(Reply reply) {
    List<?> fields = (List<?>) reply.value();
    long status = (Long) fields.get(0);
    LeaseLoss loss = null;
    LockException inDoubt = null;
    if (status == 2) {
      loss = lossOf(Reason.FORCED, context.nanos(), BY_FORCE);
    } else if (status == 0 && !reply.repeated()) {
      loss = missingLoss();
    } else if (status == 0) {
      inDoubt = context.releases().inDoubtException(lease.protocol().name(), reply);
    } else if (status == 1 && (Long) fields.get(1) < 0) {
      LOG.warn(
          "lock '{}': released, but its waiters could not be notified; the user needs the right to"
              + " its channel",
          lease.protocol().name());
    }
    state.endRelease(loss);
    unconfirmed = false;
    if (status == 1 && lease.protocol().allowsTransfer()) {
      context
          .observer()
          .released(
              lease.protocol(),
              lease.holder(),
              (Long) fields.get(1),
              channelGeneration,
              context.nanos());
    }
    return inDoubt;
  }
}
