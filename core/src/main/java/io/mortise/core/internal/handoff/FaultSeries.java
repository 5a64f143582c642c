package io.mortise.core.internal.handoff;

import io.mortise.connection.pool.CommandException;

/**
 * Consecutive faults: attempts without a reply, made with the permit of a local queue.
 *
 * @param fault the last fault
 * @param sinceNanos when the first of the consecutive faults was seen
 * @param lastNanos when the last fault was seen
 */
public record FaultSeries(CommandException fault, long sinceNanos, long lastNanos) {
  private static final long FRESH_NANOS = 1_000_000_000L;

  /** Returns whether the last fault is so recent that another attempt would show nothing new. */
  public boolean isFresh(long nowNanos) {
    return nowNanos - lastNanos < FRESH_NANOS;
  }
}
