package io.mortise.core.internal.lease;

import io.mortise.core.spi.OwnedLease;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * The time until which the lock of a hold stays busy in Redis, although the hold is released
 * earlier.
 *
 * <p><b>Threads.</b> Any thread may call any method: the state is one atomic number.
 */
public final class MinimumEnd {
  /** The hold has no minimum. */
  private static final long NONE = 0;

  private static final long NANOS_PER_MILLI = 1_000_000;

  // No AtomicLong: a client may keep a million holds.
  private static final AtomicLongFieldUpdater<MinimumEnd> NANOS =
      AtomicLongFieldUpdater.newUpdater(MinimumEnd.class, "nanos");

  private volatile long nanos = NONE;

  /** Sets the time, unless a later one is set. */
  public void extendTo(long untilNanos) {
    long given =
        untilNanos == NONE
            ? -1
            : untilNanos; // 0 means none, so a time of exactly 0 is stored as -1
    NANOS.accumulateAndGet(
        this, given, (before, end) -> before != NONE && before - end >= 0 ? before : end);
  }

  /** Removes the minimum: a release frees the lock. */
  public void waive() {
    nanos = NONE;
  }

  /** Returns the rest of the minimum, rounded up; 0 when there is none, or it is over. */
  long leftMillis(long nowNanos) {
    long end = nanos;
    return end == NONE ? 0 : Math.max(0, (end - nowNanos + NANOS_PER_MILLI - 1) / NANOS_PER_MILLI);
  }

  /** Gives the minimum to a member of the hold. */
  public void applyTo(OwnedLease member) {
    long end = nanos;
    if (end != NONE) {
      member.keepUntil(end);
    }
  }
}
