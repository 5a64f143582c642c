package io.mortise.it.chaos;

import java.time.Duration;
import java.util.Random;

/** How long the threads stay in their sections. */
enum ThinkTime {
  /** Nearly all stays are short, for faults that strike between requests. */
  QUICK(970, 996, 2),
  /** Many stays are long, for faults that strike a holder. */
  SLOW(850, 950, 16),
  /** Short and medium stays, for a long time: a few dozen in a second. */
  STEADY(700, 990, 2);

  private final int maxShort;
  private final int maxMedium;
  private final int stalls;

  /**
   * Of a random number below 1000.
   *
   * @param maxShort below this the stay takes nearly no time
   * @param maxMedium below this up to a fifth of a lease; otherwise up to 7/10 of one
   * @param stalls below this a hold that is not renewed stalls until its lease is over
   */
  ThinkTime(int maxShort, int maxMedium, int stalls) {
    this.maxShort = maxShort;
    this.maxMedium = maxMedium;
    this.stalls = stalls;
  }

  /** Returns a random stay. */
  Duration next(Random random, Duration lease) {
    int number = random.nextInt(1000);
    long full = lease.toNanos();
    if (number < maxShort) {
      return Duration.ofNanos(random.nextLong(full / 1500));
    }
    return Duration.ofNanos(
        number < maxMedium
            ? full / 200 + random.nextLong(full / 5)
            : full / 5 + random.nextLong(full / 2));
  }

  /** Returns at random whether the holder stalls until its lease is over. */
  boolean stalls(Random random) {
    return random.nextInt(1000) < stalls;
  }
}
