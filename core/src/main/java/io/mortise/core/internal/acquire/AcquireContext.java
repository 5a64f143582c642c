package io.mortise.core.internal.acquire;

import io.mortise.connection.pubsub.Subscriptions;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.handoff.LocalQueues;
import io.mortise.core.internal.handoff.SharedHolds;
import io.mortise.core.internal.lease.LeaseContext;
import java.util.function.Supplier;

/**
 * The services that every acquisition of one client needs, created once when the client is wired.
 *
 * @param holderIds creates the id of each acquisition, which is never used again
 */
public record AcquireContext(
    LeaseContext lease,
    LocalQueues queues,
    SharedHolds sharedHolds,
    Subscriptions subscriptions,
    ReleaseFairness fairness,
    Supplier<String> holderIds) {

  public LockOptions options() {
    return lease.options();
  }

  public long nanos() {
    return lease.nanos();
  }
}
