package io.mortise.core.internal.acquire;

import io.mortise.connection.command.ScriptRequest;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.Reply;
import io.mortise.core.internal.lease.AttemptStart;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.UnansweredAttempts;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.function.Predicate;

/**
 * Sends the attempts of one acquisition, all under one holder id, and keeps account of what they
 * may leave in Redis. An attempt is for one lock, or for several together, all or none.
 *
 * <p><b>A lost reply.</b> Example: client A sends an attempt, Redis grants it, and the reply is
 * lost. A repeats the attempt under the same holder id, and gets the same hold. If the acquisition
 * ends without it, {@link #release} releases what may be there, until the lease would have expired.
 * <b>A lease that is over on arrival</b> is no hold.
 *
 * <p><b>Threads.</b> Used by one thread at a time, that of its acquisition.
 */
final class AttemptAccount {
  private final LeaseContext context;
  private final List<? extends LockProtocol> protocols;
  private final LeaseTerms terms;
  private final String holder;

  private AttemptStart start = new AttemptStart(0, 0);

  /** The attempts without a reply, and a grant without a holder: what may leave a hold behind. */
  private UnansweredAttempts unanswered = UnansweredAttempts.NONE;

  /** The same without the last attempt. */
  private UnansweredAttempts before = UnansweredAttempts.NONE;

  /**
   * Whether Redis refused an attempt in the middle of its script: what the script had written
   * stays.
   */
  private boolean partiallyExecuted;

  private boolean spent;

  AttemptAccount(
      LeaseContext context,
      List<? extends LockProtocol> protocols,
      LeaseTerms terms,
      String holder) {
    this.context = context;
    this.protocols = protocols;
    this.terms = terms;
    this.holder = holder;
  }

  /**
   * Sends an attempt. It counts as unanswered from before it is sent until {@link #refused}, or
   * until its holds have a holder, so that an error in the middle leaves no hold.
   */
  Reply send(ScriptRequest attempt, Predicate<Object> isGrant, long withinNanos)
      throws CommandException {
    start = AttemptStart.now(context.holds(), context.ticker());
    before = unanswered;
    unanswered = before.plusAttempt(leaseEnd());
    try {
      Reply reply = context.commands().attempt(attempt, isGrant, this::undo, withinNanos);
      if (reply.repeated()) {
        before = before.plusAttempts(reply.earlierAttempts(), leaseEnd());
        unanswered = before.plusAttempt(leaseEnd());
      }
      return reply;
    } catch (CommandException fault) {
      unanswered = before.plusAttempts(fault.unansweredAttempts(), leaseEnd());
      partiallyExecuted |=
          fault.mayHaveExecuted() && (fault.isServerReply() || fault.unansweredAttempts() == 0);
      spent |= fault.isUndoUnanswered();
      throw fault;
    }
  }

  private List<ScriptCall> undo() {
    return protocols.stream().map(protocol -> protocol.release(holder)).toList();
  }

  private long leaseEnd() {
    return context.leaseFromNow(terms);
  }

  /** Returns the moment before the last attempt was sent. */
  AttemptStart start() {
    return start;
  }

  /** The reply to the last attempt was no grant. */
  void refused() {
    unanswered = before;
  }

  /** Discards a grant whose lease was over when its reply arrived; returns whether it was. */
  boolean discardIfLate(RedisLease lease) {
    // Without asking the lease: that would make it lost, and a lost hold is released in the
    // background, which could hit the next attempt of the same holder id.
    boolean late = context.nanos() - lease.deadlineNanos() >= 0;
    if (late) {
      unanswered = before.plusHold(leaseEnd()); // it has a reply: one release ends it
    }
    return late;
  }

  /**
   * Registers the leases of the last attempt, all or none. On an error, or when the client is
   * closing, all are released in the background.
   *
   * @return false when the epoch has changed since the attempt was sent, so that the holds may have
   *     ended, as by a forced release: then the next attempt, under the same holder id unless that
   *     is spent, finds out
   */
  boolean register(List<RedisLease> leases) {
    int registered = 0;
    boolean ended = false;
    try {
      while (registered < leases.size()
          && context.holds().register(leases.get(registered), start.epoch())) {
        registered++;
      }
      if (registered == leases.size()) {
        // Not before: the discarding of a lease object must not release the holder id.
        UnansweredAttempts earlier = before.afterGrant();
        leases.forEach(lease -> lease.termination().setUnanswered(earlier));
      } else {
        for (int i = 0; i < leases.size(); i++) {
          if (i != registered) { // that one has refused itself
            unregister(leases.get(i));
          }
        }
        // Meanwhile; a lost hold is released in the background.
        spent |= leases.stream().anyMatch(lease -> lease.loss().isPresent());
        unanswered = before.plusHold(leaseEnd()); // it has a reply too
      }
      ended = true;
      return registered == leases.size();
    } finally {
      if (!ended) {
        RedisHold.dropAll(leases);
      }
    }
  }

  private void unregister(RedisLease lease) {
    context.holds().forget(lease);
    lease.discard();
  }

  /**
   * Returns whether this holder id must not attempt again: a release of it may be under way, which
   * could hit the grant of the next attempt.
   */
  boolean isSpent() {
    return spent;
  }

  /** Returns whether the attempts may have left anything in Redis. */
  boolean mayLeaveHold() {
    return unanswered.exists() || partiallyExecuted;
  }

  /**
   * Releases what the attempts may have left in Redis, in the background. May be called again after
   * an error.
   *
   * @param mayBeQueued whether there may be a place in a queue too
   */
  void release(boolean mayBeQueued) {
    boolean mayBeHeld = mayBeQueued || (partiallyExecuted && !unanswered.exists());
    UnansweredAttempts left = mayBeHeld ? unanswered.plusHold(leaseEnd()) : unanswered;
    if (left.exists()) {
      for (LockProtocol protocol : protocols) {
        context.releases().releaseUntilConfirmed(protocol, holder, left);
      }
    }
    unanswered = UnansweredAttempts.NONE;
    partiallyExecuted = false;
  }
}
