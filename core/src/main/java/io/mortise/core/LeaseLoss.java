package io.mortise.core;

import java.time.Duration;
import java.util.Objects;

/**
 * How a lease was lost.
 *
 * @param lockName the name of the lock
 * @param fencingToken the token of the hold that was lost
 * @param reason what happened
 * @param atNanos {@link System#nanoTime()} at which the hold stopped being valid: when the lease
 *     had run out, or when the loss was seen
 * @param detail what was seen, and what to do about it
 */
public record LeaseLoss(
    String lockName, long fencingToken, Reason reason, long atNanos, String detail) {

  /** Why a lease is lost. */
  public enum Reason {
    /** Its time ran out: it was not to be renewed, or could not be. */
    EXPIRED,
    /** Somebody called {@link DistributedLock#forceUnlock()}. */
    FORCED,
    /** Redis does not know the hold any more: it lost its data, or somebody deleted the key. */
    MISSING,
    /** The client was closed, which releases all that is held through it. */
    CLIENT_CLOSED
  }

  /** Checks that nothing is missing. */
  public LeaseLoss {
    Objects.requireNonNull(lockName, "lockName");
    Objects.requireNonNull(reason, "reason");
    Objects.requireNonNull(detail, "detail");
  }

  /** How long ago the hold stopped being valid. */
  public Duration age() {
    return Duration.ofNanos(Math.max(0, System.nanoTime() - atNanos));
  }
}
