package io.mortise.cli.timeline;

import io.mortise.testkit.HoldLog.Mode;
import java.util.Comparator;

/**
 * One stay in the critical section. Workers and threads count from 0; times are {@link
 * System#nanoTime()}.
 *
 * @param mode with whom it may coincide
 * @param token the fencing token, 0 without a lock; of a shared hold that of the last exclusive one
 * @param askedNanos since when it waited
 * @param enteredNanos since when it was inside
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

  /** In the order of entering. */
  public static final Comparator<Hold> BY_ENTRY = Comparator.comparingLong(Hold::enteredNanos);

  /** An exclusive one. */
  public Hold(
      int worker, int thread, long token, long askedNanos, long enteredNanos, long leftNanos) {
    this(worker, thread, Mode.EXCLUSIVE, token, askedNanos, enteredNanos, leftNanos);
  }

  /** Whether others may be inside with it. */
  public boolean isShared() {
    return mode == Mode.SHARED;
  }

  /** How long it waited to get in. */
  public long waitedNanos() {
    return enteredNanos - askedNanos;
  }
}
