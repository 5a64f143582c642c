package io.mortise.core.internal;

/**
 * Who may go, see {@link Trips}.
 *
 * @param alone so many commands at a time go alone
 * @param together so many trips at a time when there are more: one is under way while the next
 *     gathers
 * @param anotherNanos and one more for each such part of the {@link Distance}, up to a bound
 * @param patienceNanos after which a thread goes, whoever else is on the way
 */
record TripLimits(int alone, int together, long anotherNanos, long patienceNanos) {
  static final int ALONE = 4;
  static final int TOGETHER = 2;
  static final long ANOTHER_MICROS = 100;
  static final long PATIENCE_MILLIS = 20;

  /** Where even the longest way has no more. */
  private static final int MOST_MORE = 30;

  static final TripLimits USUAL =
      new TripLimits(ALONE, TOGETHER, ANOTHER_MICROS * 1_000, PATIENCE_MILLIS * 1_000_000);

  /** How many more than {@link #together} because of the way. */
  long more(Distance distance) {
    return Math.min(MOST_MORE, distance.nanos() / anotherNanos);
  }
}
