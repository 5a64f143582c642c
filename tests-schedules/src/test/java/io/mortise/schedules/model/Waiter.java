package io.mortise.schedules.model;

import java.time.Duration;

/** An acquisition that has begun and not ended. */
final class Waiter {
  final Actor actor;
  final Call call;
  final long sinceNanos;
  boolean interrupted;

  Waiter(Actor actor, Call call, long sinceNanos) {
    this.actor = actor;
    this.call = call;
    this.sinceNanos = sinceNanos;
  }

  /** Returns whether it may end without the lock. */
  boolean isBounded() {
    return !call.op().isUnbounded();
  }

  /** Returns the wait that the call gives; zero for one attempt, and for no end. */
  Duration longestWait() {
    boolean waits = call.op() == Call.Op.TRY_LOCK_FOR || call.op() == Call.Op.ACQUIRE_FOR;
    return waits ? call.time() : Duration.ZERO;
  }

  /** Returns when a bounded wait ends. */
  long endNanos() {
    return isBounded() ? sinceNanos + longestWait().toNanos() : Long.MAX_VALUE;
  }

  /** Returns the earliest time at which Redis may have granted what was returned at that time. */
  long earliestGrant(long atNanos) {
    long taken = Duration.ofMillis(call.target().isMulti() ? 9_000 : 300).toNanos();
    return Math.max(sinceNanos, atNanos - taken);
  }
}
