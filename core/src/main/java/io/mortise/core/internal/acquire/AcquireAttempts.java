package io.mortise.core.internal.acquire;

import io.mortise.connection.command.ScriptRequest;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Reply;
import io.mortise.core.internal.handoff.LocalHandOff;
import io.mortise.core.internal.handoff.QueueTicket;
import io.mortise.core.internal.lease.AttemptStart;
import io.mortise.core.internal.lease.LeaseRenewal;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.UnansweredAttempts;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.OwnedLease;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What one acquisition asks of Redis, all under one holder id: its attempts, and what may be left
 * there of those that did not end well.
 *
 * <p><b>A lost reply</b>: the attempt may have been granted; a repetition by the same holder id
 * takes the same hold, and if the acquisition ends without it, {@link #abandon} releases what may
 * be there, until the lease would have run out. <b>A lease that is over on arrival</b> is no hold.
 *
 * <p>Used by one thread at a time, that of its acquisition.
 */
final class AcquireAttempts {
  private static final Logger LOG = LoggerFactory.getLogger(AcquireAttempts.class);

  /** A step that is taken at all has this much time. */
  private static final long LEAST_NANOS = 10_000_000L;

  private final AcquireContext context;
  private final LockProtocol protocol;
  private final LeaseTerms terms;
  private final QueueTicket place;
  private final LocalHandOff neighbours;
  private final FaultTimeout patience;
  private final String holder;

  /** Of the last attempt. */
  private int tokens;

  private AttemptStart sending = new AttemptStart(0, 0);

  /** Attempts without an answer, and a grant that nobody has yet: what may leave a hold behind. */
  private UnansweredAttempts doubt = UnansweredAttempts.NONE;

  /** The same, without the grant. */
  private UnansweredAttempts before = UnansweredAttempts.NONE;

  /** Whether an attempt was refused in the middle of its script: what it had written stands. */
  private boolean halfway;

  private boolean queued;

  AcquireAttempts(
      AcquireContext context,
      LockProtocol protocol,
      LeaseTerms terms,
      QueueTicket place,
      LocalHandOff neighbours,
      FaultTimeout patience,
      String holder) {
    this.context = context;
    this.protocol = protocol;
    this.terms = terms;
    this.place = place;
    this.neighbours = neighbours;
    this.patience = patience;
    this.holder = holder;
  }

  /**
   * Makes one attempt.
   *
   * @param leftNanos what is left of the wait
   * @return null when there was no answer, which {@code patience} then explains
   */
  @Nullable AcquireResult send(long leftNanos) {
    ScriptCall call = next();
    long within = withinNanos(leftNanos);
    return outcome(
        () ->
            context
                .lease()
                .commands()
                .attempt(
                    ScriptRequest.of(call),
                    answer -> protocol.outcome(answer) instanceof AcquireResult.Acquired,
                    () -> List.of(protocol.release(holder)),
                    within));
  }

  /** How long a step may take when so much is left of the wait. */
  long withinNanos(long leftNanos) {
    return terms.waitNanos() == 0
        ? context.lease().commands().timeoutNanos()
        : Math.max(LEAST_NANOS, leftNanos + LeaseRenewal.ROUND_TRIP_NANOS);
  }

  private ScriptCall next() {
    tokens = neighbours.tokens();
    sending = AttemptStart.now(context.lease());
    return protocol.acquire(holder, terms.leaseMillis(), terms.waitNanos() > 0, tokens);
  }

  @FunctionalInterface
  private interface Answer {
    Reply get() throws CommandException;
  }

  /**
   * An attempt is in doubt from before it is sent, so that an error in the middle leaves no hold.
   */
  private @Nullable AcquireResult outcome(Answer answer) {
    UnansweredAttempts answered = doubt;
    doubt = answered.another(leaseFromNow());
    try {
      Reply reply = answer.get();
      if (reply.repeated()) {
        answered = answered.another(leaseFromNow());
        doubt = answered.another(leaseFromNow());
      }
      AcquireResult outcome = protocol.outcome(reply.value());
      if (outcome instanceof AcquireResult.Acquired) {
        before = answered.granted(); // and in doubt until somebody has the hold
      } else {
        doubt = answered;
        record(null);
        place.wasBusy();
      }
      queued |= outcome instanceof AcquireResult.Queued;
      return outcome;
    } catch (CommandException fault) {
      if (fault.isServerReply() || !fault.mayHaveExecuted()) {
        doubt = answered;
      }
      halfway |= fault.isServerReply() && fault.mayHaveExecuted();
      record(fault);
      return null;
    } catch (ClassCastException | IndexOutOfBoundsException odd) { // by the protocol
      record(
          new CommandException(Kind.SCRIPT, true, "the answer to the attempt cannot be read", odd));
      return null;
    }
  }

  /**
   * The hold that the last attempt was granted. Null when it came too late; and when something has
   * happened since the attempt was sent that may have ended the hold, such as a forced release:
   * then the next attempt, by the same holder id, finds out.
   */
  @Nullable OwnedLease toLease(AcquireResult.Acquired acquired) {
    RedisLease lease =
        new RedisLease(
            context.lease(), protocol, holder, acquired, neighbours.owner(), terms, sending);
    // Not by asking the lease: that would make it lost, and a lost one is released in the
    // background, which could meet the next attempt of the same holder.
    if (context.nanos() - lease.renewal().deadlineNanos() >= 0) {
      doubt = before.held(leaseFromNow()); // it was answered: one release ends it
      record(
          new CommandException(
              Kind.UNREACHABLE,
              true,
              "the answer took longer than the lease of " + terms.leaseMillis() + " ms",
              new TimeoutException()));
      return null;
    }
    record(null);
    if (!context.lease().holds().register(lease, sending.epoch())) {
      doubt = before.held(leaseFromNow());
      return null;
    }
    // Not before: what ends as an object only must not have the holder id released.
    lease.end().setUnanswered(before);
    return neighbours.publish(lease, tokens);
  }

  private long leaseFromNow() {
    return context.nanos() + terms.leaseMillis() * 1_000_000;
  }

  private void record(@Nullable CommandException fault) {
    patience.record(fault);
    place.recordAttempt(fault);
  }

  /**
   * Nothing came of it. A place in a queue is left at once, while Redis answers and there is time;
   * what is in doubt, in the background.
   */
  void abandon(long leftNanos) {
    boolean left = !queued;
    if (queued
        && patience.lastFault() == null
        && !context.lease().isClosed()
        && leftNanos + LeaseRenewal.ROUND_TRIP_NANOS > 0) {
      try {
        context
            .lease()
            .commands()
            .run(
                protocol.leave(holder),
                Math.min(LeaseRenewal.ROUND_TRIP_NANOS, leftNanos + LeaseRenewal.ROUND_TRIP_NANOS));
        left = true;
      } catch (CommandException fault) {
        LOG.debug("lock '{}': the queue is left in the background", protocol.name(), fault);
      }
    }
    if (!left || doubt.exists()) {
      context
          .lease()
          .releases()
          .releaseUntilConfirmed(protocol, holder, left ? doubt : doubt.held(leaseFromNow()));
    } else if (halfway) {
      context
          .lease()
          .releases()
          .releaseUntilConfirmed(protocol, holder, UnansweredAttempts.NONE.held(leaseFromNow()));
    }
  }
}
