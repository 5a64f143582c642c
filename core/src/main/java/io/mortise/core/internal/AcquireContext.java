package io.mortise.core.internal;

import io.mortise.core.LockOptions;
import java.util.function.Supplier;

/**
 * What every acquisition of one client needs: made once, when the client is wired.
 *
 * @param holderIds makes the id of each acquisition, which is never used again
 */
record AcquireContext(
    LeaseContext lease,
    Gates gates,
    Shares shares,
    Wakeups wakeups,
    Courtesy courtesy,
    Supplier<String> holderIds) {

  LockOptions options() {
    return lease.options();
  }

  long nanos() {
    return lease.nanos();
  }
}
