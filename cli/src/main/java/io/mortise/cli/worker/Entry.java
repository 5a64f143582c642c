package io.mortise.cli.worker;

import io.mortise.testkit.HoldLog.Mode;

/**
 * A stay in the critical section that has begun.
 *
 * @param mode with whom it may coincide
 * @param token the fencing token, 0 without a lock
 * @param askedNanos since when the thread waited
 * @param enteredNanos since when it is inside
 */
public record Entry(Mode mode, long token, long askedNanos, long enteredNanos) {

  /** An exclusive one. */
  public Entry(long token, long askedNanos, long enteredNanos) {
    this(Mode.EXCLUSIVE, token, askedNanos, enteredNanos);
  }
}
