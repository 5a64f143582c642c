package io.mortise.core.internal;

/**
 * Who may go, see {@link Trips}.
 *
 * @param alone so many commands at a time go alone
 * @param together so many trips at a time when there are more: one is under way while the next
 *     gathers
 * @param anotherNanos and one more for each such part of the {@link Distance}
 * @param patienceNanos after which a thread goes, whoever else is on the way
 */
record TripLimits(int alone, int together, long anotherNanos, long patienceNanos) {
  static final int ALONE = 4;
  static final int TOGETHER = 2;
  static final long ANOTHER_MICROS = 100;
  static final long PATIENCE_MILLIS = 20;

  static final TripLimits USUAL =
      new TripLimits(ALONE, TOGETHER, ANOTHER_MICROS * 1_000, PATIENCE_MILLIS * 1_000_000);
}
