package io.mortise.it.chaos;

import java.time.Duration;
import java.util.Random;

/** How long the sections last. */
enum Pace {
  /** Many short ones, for faults that hit what happens between requests. */
  QUICK(88, 98),
  /** Many that last, for faults that hit a holder. */
  SLOW(60, 85);

  private final int brief;
  private final int middling;

  /**
   * Of a hundred sections.
   *
   * @param brief so many take next to no time
   * @param middling up to here some time; the others a good part of a lease
   */
  Pace(int brief, int middling) {
    this.brief = brief;
    this.middling = middling;
  }

  /** The time for one section. */
  Duration section(Random random, Duration lease) {
    int kind = random.nextInt(100);
    long full = lease.toNanos();
    if (kind < brief) {
      return Duration.ofNanos(random.nextLong(full / 500));
    }
    return Duration.ofNanos(
        kind < middling
            ? full / 200 + random.nextLong(full / (this == QUICK ? 50 : 5))
            : full / 5 + random.nextLong(full / 2));
  }

  /** Whether this one stands still until its lease is over. */
  boolean stalls(Random random) {
    return random.nextInt(200) < (this == QUICK ? 1 : 4);
  }
}
