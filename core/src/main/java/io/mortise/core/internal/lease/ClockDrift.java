package io.mortise.core.internal.lease;

/**
 * By how much the own clock and the server's may differ over a lease: a share of it, and 2 ms for
 * what is rounded.
 *
 * @param share of the lease
 */
public record ClockDrift(double share) {
  private static final long LEAST_NANOS = 2_000_000;

  /** What of a lease is not relied upon; at most half of it. */
  long nanos(long leaseNanos) {
    return Math.min(leaseNanos / 2, (long) (leaseNanos * share) + LEAST_NANOS);
  }
}
