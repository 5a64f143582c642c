package io.mortise.core.internal;

/**
 * Who may go, see {@link Trips}.
 *
 * @param atATime how many trips may be on the way
 * @param patienceNanos after which a thread goes, whoever else is on the way
 */
record TripLimits(int atATime, long patienceNanos) {
  static final int AT_A_TIME = 4;
  static final long PATIENCE_MICROS = 1_000;

  static final TripLimits USUAL = new TripLimits(AT_A_TIME, PATIENCE_MICROS * 1_000);
}
