package io.mortise.core.internal;

import io.mortise.core.LockOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a caller asks for, in the engine's units.
 *
 * @param waitNanos how long to wait; 0 is one attempt, {@link #FOREVER} has no end
 * @param leaseMillis the lease
 * @param renewed whether the hold is renewed
 * @param interruptible whether an interrupt ends the wait
 */
record Terms(long waitNanos, long leaseMillis, boolean renewed, boolean interruptible) {
  static final long FOREVER = Long.MAX_VALUE;
  private static final long DRIFT_DIVISOR = 100;
  private static final long DRIFT_LEAST_NANOS = 2_000_000;

  /**
   * Checks what the caller gave.
   *
   * @param wait null for no end
   * @param lease null for the client's, renewed
   */
  static Terms of(
      LockOptions options,
      @Nullable Duration wait,
      @Nullable Duration lease,
      boolean interruptible) {
    return new Terms(
        wait == null ? FOREVER : waitNanos(wait),
        lease == null ? options.lease().toMillis() : leaseMillis(lease),
        lease == null,
        interruptible);
  }

  /** By how much the own clock and the server's may differ over a lease: 1 % and 2 ms. */
  static long driftNanos(long leaseNanos) {
    return Math.min(leaseNanos / 2, leaseNanos / DRIFT_DIVISOR + DRIFT_LEAST_NANOS);
  }

  private static long waitNanos(Duration wait) {
    if (wait.isNegative()) {
      throw new IllegalArgumentException("a wait must not be negative: " + wait);
    }
    return wait.compareTo(LockOptions.MAX_LEASE) > 0
        ? LockOptions.MAX_LEASE.toNanos()
        : wait.toNanos();
  }

  private static long leaseMillis(Duration lease) {
    if (lease.compareTo(Duration.ofMillis(1)) < 0) {
      throw new IllegalArgumentException("a lease must be at least 1 ms: " + lease);
    }
    if (lease.compareTo(LockOptions.MAX_LEASE) > 0) {
      throw new IllegalArgumentException(
          "a lease must be at most %s: %s".formatted(LockOptions.MAX_LEASE, lease));
    }
    return lease.toMillis();
  }
}
