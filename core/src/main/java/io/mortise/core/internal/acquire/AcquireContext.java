package io.mortise.core.internal.acquire;

import io.mortise.connection.pubsub.Subscriptions;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.handoff.LocalQueues;
import io.mortise.core.internal.handoff.SharedHolds;
import io.mortise.core.internal.lease.LeaseContext;
import java.util.function.Supplier;

/**
 * What every acquisition of one client needs: made once, when the client is wired.
 *
 * @param holderIds makes the id of each acquisition, which is never used again
 */
public record AcquireContext(
    LeaseContext lease,
    LocalQueues gates,
    SharedHolds shares,
    Subscriptions wakeups,
    ReleaseFairness courtesy,
    Supplier<String> holderIds) {

  public LockOptions options() {
    return lease.options();
  }

  public long nanos() {
    return lease.nanos();
  }
}
