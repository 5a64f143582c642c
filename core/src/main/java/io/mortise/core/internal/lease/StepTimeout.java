package io.mortise.core.internal.lease;

import io.mortise.core.spi.CallerWait;
import io.mortise.core.spi.LeaseTerms;

/**
 * The time limit of one command, given the wait of its caller. A caller that does not wait gives
 * each command the command timeout.
 *
 * <p><b>Threads.</b> Stateless: any thread may call any method.
 */
public final class StepTimeout {
  /** The least for a command when those before it have used up the round trip that they share. */
  private static final long MIN_STEP_NANOS = 10_000_000L;

  private StepTimeout() {}

  /** Returns the timeout of the last command: the rest of the wait, at least a round trip. */
  public static long ofSingle(LeaseTerms terms, long leftNanos, long commandTimeoutNanos) {
    return terms.waitNanos() == 0
        ? commandTimeoutNanos
        : Math.max(CallerWait.ROUND_TRIP_NANOS, leftNanos);
  }

  /**
   * Returns the timeout of one of several commands, of which the last are sent when the wait is
   * over: the rest of the wait and a round trip.
   *
   * @param leftNanos negative after the end of the wait
   */
  public static long ofNext(LeaseTerms terms, long leftNanos, long commandTimeoutNanos) {
    return terms.waitNanos() == 0
        ? commandTimeoutNanos
        : Math.max(MIN_STEP_NANOS, leftNanos + CallerWait.ROUND_TRIP_NANOS);
  }
}
