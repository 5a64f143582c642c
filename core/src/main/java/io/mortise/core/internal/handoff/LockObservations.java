package io.mortise.core.internal.handoff;

import io.mortise.connection.pool.CommandException;
import org.jspecify.annotations.Nullable;

/**
 * The last replies of Redis to the acquisitions of one local queue, for the acquisitions behind
 * them.
 *
 * <p><b>Threads.</b> Any thread may call any method. Outcomes of attempts are recorded with the
 * permit of the queue, so by one thread at a time.
 */
final class LockObservations {
  private volatile @Nullable FaultSeries faults;

  /** When Redis last said that another client holds the lock; meaningful if {@code busyKnown}. */
  private volatile long busyNanos;

  private volatile boolean busyKnown;

  /** Records that Redis said: busy. */
  void recordBusy(long nowNanos) {
    busyNanos = nowNanos;
    busyKnown = true;
  }

  /** Returns whether Redis has said since that time that another client holds the lock. */
  boolean isBusySince(long nanos) {
    return busyKnown && busyNanos - nanos >= 0;
  }

  /** Records the outcome of the last attempt; the fault is null when the attempt was answered. */
  void recordAttempt(@Nullable CommandException fault, long nowNanos) {
    FaultSeries before = faults;
    if (fault != null) {
      faults = new FaultSeries(fault, before == null ? nowNanos : before.sinceNanos(), nowNanos);
    } else if (before != null) {
      faults = null;
    }
  }

  /** Returns the consecutive faults; null when the last attempt was answered. */
  @Nullable FaultSeries faults() {
    return faults;
  }
}
