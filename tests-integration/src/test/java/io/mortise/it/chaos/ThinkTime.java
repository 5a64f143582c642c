package io.mortise.it.chaos;

import java.time.Duration;
import java.util.Random;

/** How long the sections last. */
enum ThinkTime {
  /** Nearly all are short, for faults that hit what happens between requests. */
  QUICK(970, 996, 2),
  /** Many last, for faults that hit a holder. */
  SLOW(850, 950, 16);

  private final int brief;
  private final int middling;
  private final int stalling;

  /**
   * Of a thousand sections.
   *
   * @param brief so many take next to no time
   * @param middling up to here up to a fifth of a lease; the others a good part of one
   * @param stalling so many, if they are not renewed, stand still until the lease is over
   */
  ThinkTime(int brief, int middling, int stalling) {
    this.brief = brief;
    this.middling = middling;
    this.stalling = stalling;
  }

  /** The time for one section. */
  Duration section(Random random, Duration lease) {
    int kind = random.nextInt(1000);
    long full = lease.toNanos();
    if (kind < brief) {
      return Duration.ofNanos(random.nextLong(full / 1500));
    }
    return Duration.ofNanos(
        kind < middling
            ? full / 200 + random.nextLong(full / 5)
            : full / 5 + random.nextLong(full / 2));
  }

  /** Whether this one stands still until its lease is over. */
  boolean stalls(Random random) {
    return random.nextInt(1000) < stalling;
  }
}
