package io.mortise.cli.timeline;

import io.mortise.testkit.HoldLog.Mode;
import java.util.Comparator;

/**
 * A hold: the time of one thread in the critical section. Workers and threads count from 0; times
 * are {@link System#nanoTime()}.
 *
 * @param mode exclusive or shared
 * @param token the fencing token, 0 without a lock; of a shared hold that of the last exclusive one
 * @param askedNanos when it requested the lock
 * @param enteredNanos when it entered
 * @param leftNanos when it was about to leave; when it was killed, if it never left
 */
public record Hold(
    int worker,
    int thread,
    Mode mode,
    long token,
    long askedNanos,
    long enteredNanos,
    long leftNanos) {

  /** The order of entries. */
  public static final Comparator<Hold> BY_ENTRY = Comparator.comparingLong(Hold::enteredNanos);

  /** An exclusive hold. */
  public Hold(
      int worker, int thread, long token, long askedNanos, long enteredNanos, long leftNanos) {
    this(worker, thread, Mode.EXCLUSIVE, token, askedNanos, enteredNanos, leftNanos);
  }

  /** Whether other holds may overlap with it. */
  public boolean isShared() {
    return mode == Mode.SHARED;
  }

  /** Returns the time from the request to the entry. */
  public long waitedNanos() {
    return enteredNanos - askedNanos;
  }
}
