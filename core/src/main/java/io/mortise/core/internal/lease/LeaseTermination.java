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
 * How one hold ends: it is lost, released, or passed on to the next thread in line.
 *
 * <p><b>Threads.</b> Whoever makes the change to LOST or RELEASING, in {@link LeaseStateMachine},
 * does what belongs to it, once: takes the hold out of the scheduler and gives up its place in the
 * line.
 *
 * <p><b>What Redis may keep.</b> A request that lengthens the hold is noted at the {@link
 * LeaseDeadline} before it is sent. Whoever makes the hold expired looks at the note after that,
 * and has the hold released in the background if there is one. A lengthening never makes a hold
 * that is not there, so the first release that Redis answers ends the matter, in whatever order the
 * two arrive.
 */
public final class LeaseTermination implements Completion.Work {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseTermination.class);

  static final String BY_FORCE = "somebody took the lock by force";

  private final LeaseContext context;
  private final RedisLease lease;
  private final LeaseStateMachine state;

  /**
   * What is still to be done when the hold ends: the gate's permit. Set before the lease is
   * published, taken by whoever does it.
   */
  private final AtomicReference<@Nullable QueueSlot> turn = new AtomicReference<>();

  /** With what the hold may pass on. Set before the lease is published. */
  private TransferableHold.TokenReserve reserve = TransferableHold.TokenReserve.NONE;

  /** What has left the line, or is about to; the releasing thread's, as the four that follow. */
  private @Nullable QueueSlot leaving;

  /** Whether a release has begun of which it is not known that Redis has done it. */
  private boolean unconfirmed;

  /** Whether the release counts as an operation that is under way. */
  private boolean counted;

  private @Nullable Completion completion;

  /** Whether an error has kept the thread from completing the release. */
  private volatile boolean broken;

  /** Attempts before the one that was granted. */
  private volatile UnansweredAttempts doubt = UnansweredAttempts.NONE;

  /** Of the channel, before the release; used by whoever releases. */
  private long generation;

  LeaseTermination(LeaseContext context, RedisLease lease, LeaseStateMachine state) {
    this.context = context;
    this.lease = lease;
    this.state = state;
  }

  // ---- before the lease is published

  /** The hold may pass on to those who wait, with so many tokens, this one's included. */
  public void reserveTokens(int tokens) {
    if (tokens > 1) {
      reserveTokens(
          new TransferableHold.TokenReserve(lease.fencingToken() + tokens - 1, context.nanos(), 0));
    }
  }

  public void reserveTokens(TransferableHold.TokenReserve left) {
    reserve = left;
  }

  /** The place in the line belongs to the hold from now on, also if it has ended meanwhile. */
  public void setSlot(QueueSlot place) {
    turn.set(place);
    releaseSlotIfEnded();
  }

  public void setUnanswered(UnansweredAttempts attempts) {
    doubt = attempts;
  }

  // ---- loss

  /** Ends the hold as lost, unless it has ended already or is being released. */
  public boolean lose(Reason reason, long atNanos, String detail) {
    LeaseLoss loss = lost(reason, atNanos, detail);
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
        if (loss.equals(state.now().loss())) { // by this call, also if an error ends it
          abandonWhatMayStay(loss);
        }
      }
    }
  }

  private void abandonWhatMayStay(LeaseLoss loss) {
    boolean mayOutlive = lease.renewal().deadline().mayOutlive();
    if (doubt.exists() || (loss.reason() == Reason.EXPIRED && mayOutlive)) {
      abandon();
    }
  }

  /**
   * Ends an object that nobody has got, and says nothing of the hold: the acquisition goes on under
   * the same holder id, so nothing may be released.
   */
  public void discard() {
    if (state.beginRelease()) {
      state.endRelease(null);
    }
  }

  /** Gives up a hold that nobody has got: it is released in the background, and nobody is told. */
  public void drop() {
    if (begin()) {
      ensureEnded();
    }
  }

  /**
   * Does what is to be done when the hold has ended, once, whoever sees that it has. In a {@code
   * finally} wherever one ends: an error on the way, such as one for want of a thread, must not
   * keep the line of its name closed for ever.
   */
  private void releaseSlotIfEnded() {
    Phase phase = state.now().phase();
    if (phase == Phase.LOST || phase == Phase.RELEASED) {
      giveUpTurn();
    }
  }

  private void giveUpTurn() {
    QueueSlot mine = turn.getAndSet(null);
    if (mine != null) {
      leaving = mine;
      mine.release();
      leaving = null;
    }
  }

  private LeaseLoss lost(Reason reason, long atNanos, String detail) {
    return new LeaseLoss(lease.lockName(), lease.fencingToken(), reason, atNanos, detail);
  }

  // ---- release

  /** Releases, once; whether it was this call that did. */
  boolean release() {
    if (!begin()) {
      return false;
    }
    try {
      if (!tryHandOff(this::releaseOrphan)) {
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
   * Passes the hold on to the next thread in line, if there is one and the hold may: it is beyond
   * doubt, and has not passed on too often or for too long. Redis is not told.
   *
   * @param orphaned releases what was passed on, if nobody is there any more to take it
   */
  boolean tryHandOff(BiConsumer<LockProtocol, TransferableHold> orphaned) {
    QueueSlot mine = turn.get();
    if (mine == null || !mine.hasWaiters() || !mayPassOn()) {
      return false;
    }
    if (!lease.renewal().isSettled()) {
      return false;
    }
    TransferableHold tenure = lease.renewal().tenure(lease.fencingToken(), reserve.next());
    turn.set(null); // while RELEASING nobody else takes it
    leaving = mine;
    state.endRelease(null);
    unconfirmed = false; // from here on the next in line may have it
    TransferableHold orphan = mine.passOn(tenure);
    leaving = null;
    if (orphan != null) {
      orphaned.accept(lease.protocol(), orphan);
    }
    return true;
  }

  private void releaseOrphan(LockProtocol protocol, TransferableHold orphan) {
    context.releases().releaseNow(protocol, orphan, context.commands().timeoutNanos());
  }

  private boolean mayPassOn() {
    return !doubt.exists()
        && lease.fencingToken() < reserve.lastToken()
        && !lease.wasRaised()
        && reserve.passes() < context.options().maxHandOffs()
        && context.nanos() - reserve.sinceNanos() < context.options().maxHandOffTime().toNanos()
        && !context.isClosed();
  }

  /**
   * Whether the hold is the caller's to release: then one of the two that follow has to be called,
   * and {@link #ensureEnded} in any case.
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
      completion = Completion.begin(context, this);
      context.scheduler().remove(lease.renewal());
      if (lease.protocol().allowsTransfer()) {
        generation = context.observer().releasing(lease.protocol(), lease.holder());
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
   * Redis has answered the release.
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
    if (doubt.exists()) {
      context.releases().releaseUntilConfirmed(lease.protocol(), lease.holder(), doubt);
    }
    if (inDoubt != null) {
      throw inDoubt;
    }
  }

  /**
   * Redis has not answered the release, which goes on in the background; what to tell the caller.
   */
  LockException onNoReply(CommandException fault) {
    try {
      state.endRelease(null);
      abandon();
      unconfirmed = false;
    } finally {
      releaseSlotIfEnded();
    }
    return context
        .releases()
        .unconfirmedException(lease.protocol().name(), fault, lease.renewal().endInRedisNanos());
  }

  /** What began to be released and came to no end, because of an error: as without an answer. */
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
      abandon();
      unconfirmed = false;
    }
    QueueSlot left = leaving;
    if (left != null) {
      left.release();
      leaving = null;
    }
    giveUpTurn();
    if (counted) {
      context.operations().end();
      counted = false;
    }
    Completion entry = completion;
    if (entry != null) {
      entry.end();
      completion = null;
    }
  }

  /** What Redis may still hold is released in the background. */
  private void abandon() {
    context
        .releases()
        .releaseUntilConfirmed(
            lease.protocol(), lease.holder(), doubt.held(lease.renewal().endInRedisNanos()));
  }

  /** Redis does not know the hold: because its time is over, or because it was forgotten. */
  private LeaseLoss missing() {
    LeaseDeadline deadline = lease.renewal().deadline();
    return deadline.expire(context.nanos())
        ? lost(Reason.EXPIRED, deadline.nanos(), "its lease ran out while it was being released")
        : lost(
            Reason.MISSING, context.nanos(), "Redis did not know this hold when it was released");
  }

  private @Nullable LockException interpretReply(Reply reply) {
    List<?> answer = (List<?>) reply.value();
    long status = (Long) answer.get(0);
    LeaseLoss loss = null;
    LockException inDoubt = null;
    if (status == 2) {
      loss = lost(Reason.FORCED, context.nanos(), BY_FORCE);
    } else if (status == 0 && !reply.repeated()) {
      loss = missing();
    } else if (status == 0) {
      inDoubt = context.releases().inDoubtException(lease.protocol().name(), reply);
    } else if (status == 1 && (Long) answer.get(1) < 0) {
      LOG.warn(
          "lock '{}': released, but who waits could not be told; the user needs the right to its"
              + " channel",
          lease.protocol().name());
    }
    state.endRelease(loss);
    unconfirmed = false;
    if (status == 1 && lease.protocol().allowsTransfer()) {
      context
          .observer()
          .released(
              lease.protocol(), lease.holder(), (Long) answer.get(1), generation, context.nanos());
    }
    return inDoubt;
  }
}
