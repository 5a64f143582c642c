package io.mortise.core;

import java.time.Duration;
import java.util.Objects;

/**
 * The loss of a lease: when and why it happened.
 *
 * @param lockName the name of the lock
 * @param fencingToken the token of the hold that was lost
 * @param reason what happened
 * @param atNanos {@link System#nanoTime()} at which the hold stopped being valid: when the lease
 *     had run out, or when the loss was detected
 * @param detail what was detected, and what to do about it
 */
public record LeaseLoss(
    String lockName, long fencingToken, Reason reason, long atNanos, String detail) {

  /** The reason of a loss. */
  public enum Reason {
    /** The lease ran out: it was not to be renewed, or could not be. */
    EXPIRED,
    /** A client called {@link DistributedLock#forceUnlock()}. */
    FORCED,
    /** Redis does not have the hold any more: it lost its data, or the key was deleted. */
    MISSING,
    /** The client was closed, which releases all of its holds. */
    CLIENT_CLOSED
  }

  /** Checks that nothing is missing. */
  public LeaseLoss {
    Objects.requireNonNull(lockName, "lockName");
    Objects.requireNonNull(reason, "reason");
    Objects.requireNonNull(detail, "detail");
  }

  /** Returns how long ago the hold stopped being valid. */
  public Duration age() {
    return Duration.ofNanos(Math.max(0, System.nanoTime() - atNanos));
  }
}
