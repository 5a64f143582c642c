package io.mortise.core.spi;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import io.mortise.core.LockOptions;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The terms of an acquisition: the caller's arguments, checked and converted.
 *
 * @param waitNanos how long to wait; 0 is one attempt, {@link #FOREVER} has no end
 * @param leaseMillis the lease
 * @param renewed whether the hold is renewed; the lease is then the client's default
 * @param interruptible whether an interrupt ends the wait
 * @param minimumMillis for how long the lock stays busy, also if the hold is released earlier; 0
 *     for no minimum. The layer that gives the hold to a caller applies it: {@link
 *     OwnedLease#beginMinimum}
 */
public record LeaseTerms(
    long waitNanos, long leaseMillis, boolean renewed, boolean interruptible, long minimumMillis) {
  /** A wait without an end. */
  public static final long FOREVER = Long.MAX_VALUE;

  /** Creates terms without a minimum. */
  public LeaseTerms(long waitNanos, long leaseMillis, boolean renewed, boolean interruptible) {
    this(waitNanos, leaseMillis, renewed, interruptible, 0);
  }

  /**
   * Checks and converts the caller's arguments.
   *
   * @param wait null for no end; zero or less is one attempt
   * @param lease null for the client's default, which is renewed
   * @throws IllegalArgumentException if the lease is out of its range
   */
  public static LeaseTerms of(
      LockOptions options,
      @Nullable Duration wait,
      @Nullable Duration lease,
      boolean interruptible) {
    return new LeaseTerms(
        wait == null ? FOREVER : waitNanos(wait),
        lease == null ? options.lease().toMillis() : leaseMillis(lease),
        lease == null,
        interruptible);
  }

  /** Returns these terms with another wait. */
  public LeaseTerms waiting(long nanos) {
    return new LeaseTerms(nanos, leaseMillis, renewed, interruptible, minimumMillis);
  }

  /** Returns these terms with another interruptibility. */
  public LeaseTerms interruptible(boolean ends) {
    return new LeaseTerms(waitNanos, leaseMillis, renewed, ends, minimumMillis);
  }

  /**
   * Checks and converts the caller's minimum, and returns these terms with it.
   *
   * @param minimum zero for none
   * @throws IllegalArgumentException if it is negative, longer than 365 days, or longer than a
   *     lease that is not renewed
   */
  public LeaseTerms atLeast(Duration minimum) {
    if (minimum.isNegative() || minimum.compareTo(LockOptions.MAX_LEASE) > 0) {
      throw new IllegalArgumentException(
          "a minimum must be from %s to %s: %s"
              .formatted(Duration.ZERO, LockOptions.MAX_LEASE, minimum));
    }
    long millis = minimum.plusNanos(999_999).toMillis();
    if (!renewed && minimum.toMillis() > leaseMillis) {
      throw new IllegalArgumentException(
          "a minimum must not be longer than the lease, which ends the hold: %s, and %d ms"
              .formatted(minimum, leaseMillis));
    }
    long kept = renewed ? millis : Math.min(millis, leaseMillis); // which is rounded down
    return new LeaseTerms(waitNanos, leaseMillis, renewed, interruptible, kept);
  }

  /** Returns these terms without a minimum, for the members of a composite hold. */
  public LeaseTerms withoutMinimum() {
    return new LeaseTerms(waitNanos, leaseMillis, renewed, interruptible);
  }

  public long minimumNanos() {
    return MILLISECONDS.toNanos(minimumMillis);
  }

  /** Returns these terms for a lock with other options: a renewed hold has their lease. */
  public LeaseTerms withOptions(LockOptions options) {
    return renewed
        ? new LeaseTerms(waitNanos, options.lease().toMillis(), true, interruptible, minimumMillis)
        : this;
  }

  /** Returns whether the wait has no end. */
  public boolean isUnbounded() {
    return waitNanos == FOREVER;
  }

  private static long waitNanos(Duration wait) {
    if (wait.isNegative()) {
      return 0;
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
