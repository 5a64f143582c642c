package io.mortise.cli.worker;

import io.mortise.testkit.HoldLog.Mode;

/**
 * The entry of a thread into the critical section.
 *
 * @param mode exclusive or shared
 * @param token the fencing token, 0 without a lock
 * @param askedNanos when it requested the lock
 * @param enteredNanos when it entered
 */
public record Entry(Mode mode, long token, long askedNanos, long enteredNanos) {

  /** An exclusive entry. */
  public Entry(long token, long askedNanos, long enteredNanos) {
    this(Mode.EXCLUSIVE, token, askedNanos, enteredNanos);
  }
}
