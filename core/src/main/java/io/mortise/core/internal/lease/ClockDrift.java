package io.mortise.core.internal.lease;

/**
 * The difference that may build up between the clocks of client and server over a lease: a share of
 * the lease, and 2 ms for rounding.
 *
 * @param share of the lease
 */
public record ClockDrift(double share) {
  private static final long ROUNDING_NANOS = 2_000_000;

  /** Returns the part of a lease that the client does not rely on; at most half of the lease. */
  long nanos(long leaseNanos) {
    return Math.min(leaseNanos / 2, (long) (leaseNanos * share) + ROUNDING_NANOS);
  }
}
