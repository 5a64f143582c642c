package io.mortise.benchmarks.cases;

import java.time.Duration;
import java.util.List;

/**
 * The durations and the number of rounds of a benchmark.
 *
 * @param quick short turns and small sizes
 * @param rounds in each of which each library has a turn, at least five
 * @param turn the duration of a turn
 * @param warmUp the duration of the first turn, which does not count
 * @param longRounds rounds of the cases whose turns set their own duration
 * @param lease of the holds that are renewed
 * @param moreHolds sizes of {@code renewals} beside its own
 * @param quiet how long waiters are watched
 */
public record BenchmarkSettings(
    boolean quick,
    int rounds,
    Duration turn,
    Duration warmUp,
    int longRounds,
    Duration lease,
    List<Integer> moreHolds,
    Duration quiet) {
  private static final int LEAST_ROUNDS = 5;

  /** At 1.7 KB of heap for each, and 6 GB for all. */
  private static final int MOST_HOLDS = 3_000_000;

  /** Checks the rounds. */
  public BenchmarkSettings {
    moreHolds = List.copyOf(moreHolds);
    if (moreHolds.stream().anyMatch(holds -> holds < 1 || holds > MOST_HOLDS)) {
      throw new IllegalArgumentException(
          "--holds must be at least 1 and at most %,d, for which a process has the heap"
              .formatted(MOST_HOLDS));
    }
    if (rounds < LEAST_ROUNDS) {
      throw new IllegalArgumentException(
          "--rounds must be at least %d, not %d: a median needs as many"
              .formatted(LEAST_ROUNDS, rounds));
    }
  }

  /** The default settings. */
  public static BenchmarkSettings thorough(int rounds, List<Integer> moreHolds) {
    return new BenchmarkSettings(
        false,
        rounds,
        Duration.ofSeconds(1),
        Duration.ofSeconds(2),
        rounds,
        Duration.ofSeconds(30),
        moreHolds,
        Duration.ofSeconds(10));
  }

  /** Settings for a first impression. */
  public static BenchmarkSettings quick(int rounds, List<Integer> moreHolds) {
    return new BenchmarkSettings(
        true,
        rounds,
        Duration.ofMillis(100),
        Duration.ofMillis(300),
        1,
        Duration.ofMillis(1500),
        moreHolds,
        Duration.ofSeconds(3));
  }
}
