package io.mortise.core.internal.handoff;

import io.mortise.core.LockTuning;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LockId;
import io.mortise.core.internal.lease.RedisHold;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.TransferableHold;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.RunProtocol;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Obtains a hold for one acquisition from other threads of the same client without a command: a
 * hold that is handed off in the local queue or in a run of a queue in Redis, or one that is
 * shared. Publishes a hold of its own to them in the same way.
 *
 * <p><b>Threads.</b> Confined to the thread that acquires. {@link LocalQueue} orders the threads
 * that hand a hold off and take it, {@link SharedHold} the users of a shared hold.
 */
public final class LocalHandOff {
  private final LeaseContext context;
  private final SharedHolds sharedHolds;
  private final RunHandOff runs;
  private final LeaseSource source;
  private final LockProtocol protocol;
  private final LeaseTerms terms;
  private final @Nullable Thread owner;
  private final QueueTicket ticket;
  private final boolean sharing;

  /** The part of this acquisition in the shared hold that it has published; null for none. */
  private @Nullable SharedLease firstPart;

  public LocalHandOff(
      LeaseContext context,
      SharedHolds sharedHolds,
      RunWaiters runWaiters,
      LeaseSource source,
      LockProtocol protocol,
      LeaseTerms terms,
      @Nullable Thread owner,
      QueueTicket ticket) {
    this.context = context;
    this.sharedHolds = sharedHolds;
    this.runs = new RunHandOff(context, runWaiters, protocol, terms, owner);
    this.source = source;
    this.protocol = protocol;
    this.terms = terms;
    this.owner = owner;
    this.ticket = ticket;
    this.sharing = sharedHolds.mayShare(protocol, terms);
  }

  /**
   * Returns whether the acquisition waits in the local queue before it sends an attempt, because
   * the acquisitions behind it benefit from its hold.
   */
  public boolean usesLocalQueue() {
    return sharing || protocol.usesLocalQueue();
  }

  /** Returns the part in the runs of a queue in Redis. */
  public RunHandOff runs() {
    return runs;
  }

  /** Returns the owner of the hold in Redis; null when it is shared. */
  public @Nullable Thread owner() {
    return sharing ? null : owner;
  }

  /**
   * Returns how many more threads the hold of the next attempt may serve. In a local queue that is
   * none if no acquisition waits behind this one, and the queue's recent number of hand-offs limits
   * it, because unused tokens are lost.
   */
  public int maxSuccessors() {
    LockTuning tuning = context.options().tuning();
    if (!terms.renewed() || tuning.maxHandOffTime().isZero()) {
      return 0;
    }
    if (protocol instanceof RunProtocol) {
      return Math.min(tuning.maxHandOffs(), RunHandOff.MAX_RUN);
    }
    return protocol.allowsHandOff() && ticket.hasSuccessors()
        ? Math.min(tuning.maxHandOffs(), ticket.expectedHandOffs())
        : 0;
  }

  /**
   * Takes a hold that other threads offer; returns null when Redis has to be asked.
   *
   * @param withinNanos the time limit for the release of a hold that this acquisition cannot use
   */
  public @Nullable RedisHold takeOffered(long withinNanos) {
    if (sharing) {
      return joinShared();
    }
    RedisHold passed = runs.takeOffered();
    if (passed != null) {
      return passed;
    }
    RedisHold lease = takeOver();
    if (lease == null) {
      ticket.releaseOfferedHold(withinNanos);
    }
    return lease;
  }

  /**
   * Publishes a hold that Redis has granted, and that is registered, to the acquisitions behind.
   *
   * @param granted the protocol of the hold
   * @param successors how many its attempt named
   */
  public RedisHold publish(RedisLease lease, LockProtocol granted, int successors) {
    boolean published = false;
    try {
      if (sharing) {
        SharedHold shared = sharedHolds.begin(lockId(), lease);
        SharedLease first = shared.begin(source, owner);
        firstPart = first;
        published = true; // from here on its last user releases it
        admitSuccessors(
            first,
            () -> {
              sharedHolds.makeJoinable(lockId(), shared);
              return true;
            });
        return first;
      }
      if (granted instanceof RunProtocol run) {
        lease.termination().reserveTokens(run.run().size() + 1);
        if (!run.run().isEmpty()) {
          runs.passOn(lease, run);
        }
      } else {
        lease.termination().reserveTokens(successors + 1);
        ticket.transferTo(lease);
      }
      runs.leave();
      published = true;
      return lease;
    } finally {
      if (!published) {
        lease.drop();
      }
    }
  }

  /**
   * Joins a hold; null if there is none, or it has open questions once it is joined: a forced
   * release may have returned in between, and after that nobody enters by the old hold.
   */
  private @Nullable RedisHold joinShared() {
    SharedLease lease = sharedHolds.join(lockId(), source, terms, owner);
    return lease == null ? null : admitSuccessors(lease, lease::isSettled);
  }

  private LockId lockId() {
    return LockId.of(protocol);
  }

  /**
   * Lets the acquisitions behind join next. An error on the way leaves no lease behind without a
   * holder.
   *
   * @param beforehand returns whether the lease is of use; otherwise it is dropped
   */
  private @Nullable RedisHold admitSuccessors(SharedLease lease, BooleanSupplier beforehand) {
    try {
      lease.startWatching(); // may need memory: before others can have joined
      if (!beforehand.getAsBoolean()) {
        lease.drop();
        return null;
      }
      ticket.release();
      return lease;
    } catch (Throwable e) {
      lease.drop();
      throw e;
    }
  }

  /**
   * Gives up the part of this acquisition in a hold that it has published for others to join, after
   * an error. Others may be in it, so the acquisition releases no more than its part.
   *
   * @return false when it has published none
   */
  public boolean dropShared() {
    SharedLease part = firstPart;
    if (part == null) {
      return false;
    }
    part.drop();
    return true;
  }

  /** Returns whether a hold that is handed off matches the terms. */
  public boolean accepts(TransferableHold hold) {
    return hold.isUsable(terms, context.nanos(), context.holds().epoch());
  }

  /**
   * Takes the hold that was handed off to this acquisition; null when there is none that matches.
   */
  private @Nullable RedisHold takeOver() {
    TransferableHold hold = ticket.offeredHold();
    if (hold == null || !accepts(hold)) {
      return null;
    }
    ticket.recordAttempt(null);
    RedisLease lease = RedisLease.handedOff(context, protocol, hold, owner, terms);
    if (!context.holds().register(lease, hold.epoch())) {
      return null; // the ticket still has the hold
    }
    try {
      ticket.transferTo(lease); // nothing before it: the ticket would offer a hold that is dropped
      return lease;
    } catch (Throwable e) {
      lease.drop();
      throw e;
    }
  }
}
