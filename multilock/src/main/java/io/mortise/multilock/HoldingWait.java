package io.mortise.multilock;

/**
 * How long an acquisition that holds members waits for another one, in each of its rounds.
 *
 * <p>The first round does not wait at all: whoever holds the busy member may be waiting for one
 * that is held here, and then every moment is lost for both. A queue at the busy member, on the
 * other hand, needs a wait that outlasts it. Nobody can tell the two apart from here; so three
 * rounds of four are short, and the fourth takes four times as long each time, until it begins
 * again.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
final class HoldingWait {
  static final long MAX_NANOS = 3_200_000_000L;
  private static final long[] NANOS = {
    0, 25_000_000L, 50_000_000L, 200_000_000L,
    0, 25_000_000L, 50_000_000L, 800_000_000L,
    0, 25_000_000L, 50_000_000L, MAX_NANOS,
  };

  private static final long SHORTEST_NANOS = 25_000_000L;
  private static final int MAX_DOUBLINGS = 7; // from the shortest to the longest

  private HoldingWait() {}

  /** Returns the wait of a round, after that many that have failed. */
  static long nanosAfter(int failedRounds) {
    return NANOS[failedRounds % NANOS.length];
  }

  /** Returns the shortest wait after that many rounds in which a server did not answer in time. */
  static long shortestNanosAfter(int slowRounds) {
    return slowRounds == 0 ? 0 : SHORTEST_NANOS << Math.min(MAX_DOUBLINGS, slowRounds);
  }
}
