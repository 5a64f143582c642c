package io.mortise.core.internal.handoff;

import io.mortise.connection.pool.CommandException;
import org.jspecify.annotations.Nullable;

/**
 * The last replies of Redis to the acquisitions of one local queue, for the acquisitions behind
 * them.
 *
 * @param faults the consecutive faults; null when the last attempt was answered
 * @param busyKnown whether Redis has said that another client holds the lock
 * @param busyNanos when it last said so; meaningful if {@code busyKnown}
 */
record LockObservations(@Nullable FaultSeries faults, boolean busyKnown, long busyNanos) {
  /** Those of a queue in which nothing has been recorded. */
  static final LockObservations NONE = new LockObservations(null, false, 0);

  /** Returns these after Redis said: busy. */
  LockObservations busy(long nowNanos) {
    return new LockObservations(faults, true, nowNanos);
  }

  /** Returns whether Redis has said since that time that another client holds the lock. */
  boolean isBusySince(long nanos) {
    return busyKnown && busyNanos - nanos >= 0;
  }

  /** Returns these after an attempt; the fault is null when it was answered. */
  LockObservations attempted(@Nullable CommandException fault, long nowNanos) {
    if (fault == null) {
      return new LockObservations(null, busyKnown, busyNanos);
    }
    long sinceNanos = faults == null ? nowNanos : faults.sinceNanos();
    return new LockObservations(new FaultSeries(fault, sinceNanos, nowNanos), busyKnown, busyNanos);
  }
}
