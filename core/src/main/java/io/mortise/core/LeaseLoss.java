package io.mortise.core;

import java.io.Serializable;
import java.time.Duration;
import java.time.Instant;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The loss of a lease: when and why it happened.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
public final class LeaseLoss implements Serializable {
  private static final long serialVersionUID = 1L;

  private final String lockName;
  private final long fencingToken;
  private final Reason reason;
  private final String detail;

  /** When the hold stopped being valid, by the wall clock of the process that lost it. */
  private final Instant at;

  private final transient long atNanos;

  /** The reason of a loss. Later versions may have more reasons. */
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

  /**
   * Describes a loss; for implementations of lock families.
   *
   * @param fencingToken the token of the hold that was lost
   * @param atNanos {@link System#nanoTime()} at which the hold stopped being valid
   * @param detail the fact that was detected, and the remedy
   */
  public LeaseLoss(String lockName, long fencingToken, Reason reason, long atNanos, String detail) {
    this(
        lockName,
        fencingToken,
        reason,
        atNanos,
        Instant.now().minusNanos(System.nanoTime() - atNanos),
        detail);
  }

  private LeaseLoss(
      String lockName, long fencingToken, Reason reason, long atNanos, Instant at, String detail) {
    this.lockName = Objects.requireNonNull(lockName, "lockName");
    this.fencingToken = fencingToken;
    this.reason = Objects.requireNonNull(reason, "reason");
    this.atNanos = atNanos;
    this.detail = Objects.requireNonNull(detail, "detail");
    this.at = at;
  }

  /** Returns the name of the lock. */
  public String lockName() {
    return lockName;
  }

  /** Returns the token of the hold that was lost. */
  public long fencingToken() {
    return fencingToken;
  }

  /** Returns the reason. */
  public Reason reason() {
    return reason;
  }

  /** Returns the fact that was detected, and the remedy. */
  public String detail() {
    return detail;
  }

  /**
   * Returns when the hold stopped being valid, when the lease had run out or the loss was detected:
   * by the wall clock of the process that lost it, which may have been set since.
   */
  public Instant at() {
    return at;
  }

  /** Returns {@link #at()} as {@link System#nanoTime()} of this process. */
  public long atNanos() {
    return atNanos;
  }

  /** Returns how long ago the hold stopped being valid. */
  public Duration age() {
    return Duration.ofNanos(Math.max(0, System.nanoTime() - atNanos));
  }

  /**
   * In another process the clock of {@code atNanos} is another one; the wall clock relates them.
   */
  private Object readResolve() {
    long age = Duration.between(at, Instant.now()).toNanos();
    return new LeaseLoss(lockName, fencingToken, reason, System.nanoTime() - age, at, detail);
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof LeaseLoss that
        && lockName.equals(that.lockName)
        && fencingToken == that.fencingToken
        && reason == that.reason
        && at.equals(that.at)
        && detail.equals(that.detail);
  }

  @Override
  public int hashCode() {
    return Objects.hash(lockName, fencingToken, reason, at, detail);
  }

  @Override
  public String toString() {
    return "lock '%s': the lease with fencing token %d was lost at %s (%s): %s"
        .formatted(lockName, fencingToken, at, reason, detail);
  }
}
