package io.mortise.core.internal.acquire;

import io.mortise.connection.command.ScriptRequest;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import io.mortise.core.internal.handoff.LocalHandOff;
import io.mortise.core.internal.handoff.QueueTicket;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.StepTimeout;
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
 * The attempts of one acquisition that waits for one lock, all under one holder id, with its place
 * in the local queue and in a queue in Redis. {@link AttemptAccount} has what they may leave
 * behind.
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
  private final AttemptAccount account;

  /** How many more threads the last attempt asked for. */
  private int successors;

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
    this.account = new AttemptAccount(context, List.of(protocol), terms, holder);
    this.granted = protocol;
  }

  /**
   * Makes one attempt.
   *
   * @param leftNanos the rest of the wait
   * @return null when there was no reply; the {@code faultTimeout} then has the fault
   */
  @Nullable AcquireResult send(long leftNanos) {
    successors = handOff.maxSuccessors();
    ScriptCall attempt =
        protocol.acquire(holder, terms.leaseMillis(), terms.waitNanos() > 0, successors);
    try {
      Reply reply =
          account.send(
              ScriptRequest.of(attempt),
              answer -> protocol.outcome(answer) instanceof AcquireResult.Acquired,
              withinNanos(leftNanos));
      AcquireResult outcome = protocol.outcome(reply.value());
      context.observer().attempted(protocol, outcome, account.start().nanos());
      if (outcome instanceof AcquireResult.Acquired) {
        granted = protocol.granted(reply.value());
      } else {
        queued |= outcome instanceof AcquireResult.Queued;
        queued &= !(outcome instanceof AcquireResult.Unavailable);
        account.refused(); // after "queued": if an error follows, the waiter still leaves
        record(null);
        ticket.recordBusy();
      }
      return outcome;
    } catch (CommandException fault) {
      record(fault);
      return null;
    } catch (ClassCastException | IndexOutOfBoundsException unreadable) { // by the protocol
      record(AcquireContext.unreadable(unreadable));
      return null;
    }
  }

  /** Returns how long a step may take, given the rest of the wait. */
  long withinNanos(long leftNanos) {
    return StepTimeout.ofNext(terms, leftNanos, context.commands().timeoutNanos());
  }

  /**
   * Returns the hold that the last attempt was granted. Returns null when the reply came too late,
   * and when the epoch has changed since the attempt was sent, so that the hold may have ended, as
   * by a forced release: then the next attempt, under the same holder id unless that is spent,
   * finds out.
   */
  @Nullable RedisHold toLease(AcquireResult.Acquired acquired) {
    RedisLease lease =
        RedisLease.granted(
            context, granted, holder, acquired, handOff.owner(), terms, account.start());
    if (account.discardIfLate(lease)) {
      record(AcquireContext.lateGrant(terms));
      return null;
    }
    record(null);
    return account.register(List.of(lease)) ? handOff.publish(lease, granted, successors) : null;
  }

  private void record(@Nullable CommandException fault) {
    faultTimeout.record(fault);
    ticket.recordAttempt(fault);
  }

  /** Returns whether this holder id must not attempt again. */
  boolean isSpent() {
    return account.isSpent();
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
    if (account.mayLeaveHold()) {
      account.release(true);
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
    account.release(!leftQueue);
  }
}
