package io.mortise.core.internal.acquire;

import io.mortise.connection.command.ScriptRequest;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import io.mortise.core.internal.handoff.LocalHandOff;
import io.mortise.core.internal.handoff.QueueTicket;
import io.mortise.core.internal.lease.AttemptStart;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.StepTimeout;
import io.mortise.core.internal.lease.UnansweredAttempts;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.CallerWait;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.RunProtocol;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Attempts of one acquisition, all under one holder id, and the release of a hold that they may
 * leave in Redis.
 *
 * <p><b>A lost reply.</b> Example: client A sends an attempt, Redis grants it, and the reply is
 * lost. A repeats the attempt under the same holder id, and gets the same hold. If the acquisition
 * ends without it, {@link #abandon} releases what may be there, until the lease would have expired.
 * <b>A lease that is over on arrival</b> is no hold.
 *
 * <p><b>Threads.</b> Used by one thread at a time, that of its acquisition.
 */
final class AcquireAttempts {
  private static final Logger LOG = LoggerFactory.getLogger(AcquireAttempts.class);

  private final LeaseContext context;
  private final LockProtocol protocol;
  private final LeaseTerms terms;
  private final QueueTicket ticket;
  private final LocalHandOff handOff;
  private final FaultTimeout faultTimeout;
  private final String holder;

  /** How many more threads the last attempt asked for. */
  private int successors;

  private AttemptStart start = new AttemptStart(0, 0);

  /** The attempts without a reply, and a grant without a holder: what may leave a hold behind. */
  private UnansweredAttempts unanswered = UnansweredAttempts.NONE;

  /** The same without the grant. */
  private UnansweredAttempts unansweredBefore = UnansweredAttempts.NONE;

  /**
   * Whether Redis refused an attempt in the middle of its script: what the script had written
   * stays.
   */
  private boolean partiallyExecuted;

  /**
   * Whether a release of this holder id may be under way: it could hit the grant of the next
   * attempt.
   */
  private boolean spent;

  private boolean queued;

  /** The protocol of the hold that the last attempt was granted. */
  private LockProtocol granted;

  AcquireAttempts(
      LeaseContext context,
      LockProtocol protocol,
      LeaseTerms terms,
      QueueTicket ticket,
      LocalHandOff handOff,
      FaultTimeout faultTimeout,
      String holder) {
    this.context = context;
    this.protocol = protocol;
    this.terms = terms;
    this.ticket = ticket;
    this.handOff = handOff;
    this.faultTimeout = faultTimeout;
    this.holder = holder;
    this.granted = protocol;
  }

  /**
   * Makes one attempt.
   *
   * @param leftNanos the rest of the wait
   * @return null when there was no reply; the {@code faultTimeout} then has the fault
   */
  @Nullable AcquireResult send(long leftNanos) {
    ScriptCall call = nextCall();
    long timeoutNanos = withinNanos(leftNanos);
    return outcome(
        () ->
            context
                .commands()
                .attempt(
                    ScriptRequest.of(call),
                    answer -> protocol.outcome(answer) instanceof AcquireResult.Acquired,
                    () -> List.of(protocol.release(holder)),
                    timeoutNanos));
  }

  /** Returns how long a step may take, given the rest of the wait. */
  long withinNanos(long leftNanos) {
    return StepTimeout.ofNext(terms, leftNanos, context.commands().timeoutNanos());
  }

  private ScriptCall nextCall() {
    successors = handOff.maxSuccessors();
    start = AttemptStart.now(context.holds(), context.ticker());
    return protocol.acquire(holder, terms.leaseMillis(), terms.waitNanos() > 0, successors);
  }

  @FunctionalInterface
  private interface AttemptCommand {
    Reply get() throws CommandException;
  }

  /**
   * Sends an attempt and interprets its reply. The attempt counts as unanswered from before it is
   * sent, so that an error in the middle leaves no hold.
   */
  private @Nullable AcquireResult outcome(AttemptCommand exchange) {
    UnansweredAttempts answered = unanswered;
    unanswered = answered.plusAttempt(context.leaseFromNow(terms));
    try {
      Reply reply = exchange.get();
      if (reply.repeated()) {
        answered = answered.plusAttempts(reply.earlierAttempts(), context.leaseFromNow(terms));
        unanswered = answered.plusAttempt(context.leaseFromNow(terms));
      }
      AcquireResult outcome = protocol.outcome(reply.value());
      context.observer().attempted(protocol, outcome, start.nanos());
      if (outcome instanceof AcquireResult.Acquired) {
        unansweredBefore = answered.afterGrant(); // and unanswered until the hold has a holder
        granted = protocol.granted(reply.value());
      } else {
        queued |= outcome instanceof AcquireResult.Queued;
        queued &= !(outcome instanceof AcquireResult.Unavailable);
        unanswered = answered; // after "queued": if an error follows, the waiter still leaves
        record(null);
        ticket.recordBusy();
      }
      return outcome;
    } catch (CommandException fault) {
      unanswered = answered.plusAttempts(fault.unansweredAttempts(), context.leaseFromNow(terms));
      partiallyExecuted |=
          fault.mayHaveExecuted() && (fault.isServerReply() || fault.unansweredAttempts() == 0);
      spent |= fault.isUndoUnanswered();
      record(fault);
      return null;
    } catch (ClassCastException | IndexOutOfBoundsException unreadable) { // by the protocol
      record(AcquireContext.unreadable(unreadable));
      return null;
    }
  }

  /**
   * Returns the hold that the last attempt was granted. Returns null when the reply came too late,
   * and when the epoch has changed since the attempt was sent, so that the hold may have ended, as
   * by a forced release: then the next attempt, under the same holder id unless that is spent,
   * finds out.
   */
  @Nullable RedisHold toLease(AcquireResult.Acquired acquired) {
    RedisLease lease =
        RedisLease.granted(context, granted, holder, acquired, handOff.owner(), terms, start);
    // Without asking the lease: that would make it lost, and a lost hold is released in the
    // background, which could hit the next attempt of the same holder id.
    if (context.nanos() - lease.deadlineNanos() >= 0) {
      unanswered =
          unansweredBefore.plusHold(
              context.leaseFromNow(terms)); // it has a reply: one release ends it
      record(AcquireContext.lateGrant(terms));
      return null;
    }
    record(null);
    if (!context.holds().register(lease, start.epoch())) {
      spent |= lease.loss().isPresent(); // meanwhile; a lost hold is released in the background
      unanswered = unansweredBefore.plusHold(context.leaseFromNow(terms));
      return null;
    }
    // Not before: the discarding of a lease object must not release the holder id.
    lease.termination().setUnanswered(unansweredBefore);
    return handOff.publish(lease, granted, successors);
  }

  private void record(@Nullable CommandException fault) {
    faultTimeout.record(fault);
    ticket.recordAttempt(fault);
  }

  /** Returns whether this holder id must not attempt again. */
  boolean isSpent() {
    return spent;
  }

  /** Ends the attempts, because another thread has offered its hold; returns that hold. */
  RedisHold replaceBy(RedisHold offered, long leftNanos) {
    try {
      if (protocol instanceof RunProtocol) {
        keepPlaceForRelease();
      } else {
        abandon(leftNanos);
      }
      return offered;
    } catch (Throwable e) {
      offered.drop();
      throw e;
    }
  }

  /**
   * Leaves the place in the queue to the release of the hold of the run. An attempt that is
   * unanswered may make it again after that: then the place is removed in the background.
   */
  private void keepPlaceForRelease() {
    if (unanswered.exists() || partiallyExecuted) {
      UnansweredAttempts left = unanswered.plusHold(context.leaseFromNow(terms));
      context.releases().releaseUntilConfirmed(protocol, holder, left);
    }
  }

  /**
   * Ends the acquisition without a hold. Leaves a queue in Redis at once, while Redis replies and
   * time is left; releases what is unanswered in the background. A hold that others may have joined
   * is theirs too: of that one it only gives up its part.
   */
  void abandon(long leftNanos) {
    if (handOff.dropShared()) {
      return;
    }
    boolean leftQueue = !queued;
    if (queued
        && faultTimeout.lastFault() == null
        && !context.isClosed()
        && leftNanos + CallerWait.ROUND_TRIP_NANOS > 0) {
      try {
        context
            .commands()
            .run(
                protocol.leave(holder),
                Math.min(CallerWait.ROUND_TRIP_NANOS, leftNanos + CallerWait.ROUND_TRIP_NANOS));
        leftQueue = true;
      } catch (CommandException fault) {
        LOG.debug("lock '{}': the queue is left in the background", protocol.name(), fault);
      }
    }
    boolean mayBeHeld = !leftQueue || (partiallyExecuted && !unanswered.exists());
    UnansweredAttempts left =
        mayBeHeld ? unanswered.plusHold(context.leaseFromNow(terms)) : unanswered;
    if (left.exists()) {
      context.releases().releaseUntilConfirmed(protocol, holder, left);
    }
  }
}
