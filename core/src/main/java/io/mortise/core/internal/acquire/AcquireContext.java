package io.mortise.core.internal.acquire;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pubsub.Subscriptions;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.handoff.LocalQueues;
import io.mortise.core.internal.handoff.RunWaiters;
import io.mortise.core.internal.handoff.SharedHolds;
import io.mortise.core.internal.lease.HolderIds;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.ReleaseFairness;
import io.mortise.core.spi.LeaseTerms;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The services that every acquisition of one client needs, created once when the client is wired.
 *
 * @param holderIds makes the id of each acquisition, which is never used again
 * @param parked counts the acquisitions that are parked until Redis may grant them the lock
 */
public record AcquireContext(
    LeaseContext lease,
    LocalQueues queues,
    SharedHolds sharedHolds,
    RunWaiters runWaiters,
    Subscriptions subscriptions,
    ReleaseFairness fairness,
    HolderIds holderIds,
    AtomicInteger parked) {

  LockOptions options() {
    return lease.options();
  }

  long nanos() {
    return lease.nanos();
  }

  /** Returns about how many acquisitions wait, in this process or for Redis. */
  public int waiters() {
    return queues.waiters() + parked.get();
  }

  /** Returns the fault of an attempt whose lease was over when its reply arrived. */
  static CommandException lateGrant(LeaseTerms terms) {
    return new CommandException(
        Kind.UNREACHABLE,
        true,
        "the answer took longer than the lease of %d ms less the clock drift; give a longer lease"
            .formatted(terms.leaseMillis()),
        new TimeoutException());
  }

  /** Returns the fault of an attempt whose reply the protocol does not know. */
  static CommandException unreadable(RuntimeException cause) {
    return new CommandException(
        Kind.SCRIPT, true, "the answer to the attempt cannot be read", cause);
  }
}
