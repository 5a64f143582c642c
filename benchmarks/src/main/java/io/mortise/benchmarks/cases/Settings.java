package io.mortise.benchmarks.cases;

import java.time.Duration;

/**
 * How long everything takes.
 *
 * @param quick small numbers: all cases within three minutes
 * @param rounds how often everybody has a turn, at least five
 * @param turn how long a turn is
 * @param warmUp how long the first turn is, which does not count
 * @param longRounds rounds of the cases whose turns take their own time
 * @param lease of the holds that are renewed
 * @param quiet how long is watched that nothing is sent
 */
public record Settings(
    boolean quick,
    int rounds,
    Duration turn,
    Duration warmUp,
    int longRounds,
    Duration lease,
    Duration quiet) {
  private static final int LEAST_ROUNDS = 5;

  /** Checks the rounds. */
  public Settings {
    if (rounds < LEAST_ROUNDS) {
      throw new IllegalArgumentException(
          "--rounds must be at least %d, not %d: fewer make no median"
              .formatted(LEAST_ROUNDS, rounds));
    }
  }

  /** The usual ones. */
  public static Settings thorough(int rounds) {
    return new Settings(
        false,
        rounds,
        Duration.ofSeconds(1),
        Duration.ofSeconds(2),
        rounds,
        Duration.ofSeconds(3),
        Duration.ofSeconds(10));
  }

  /** For a first look. */
  public static Settings quick(int rounds) {
    return new Settings(
        true,
        rounds,
        Duration.ofMillis(100),
        Duration.ofMillis(300),
        1,
        Duration.ofSeconds(3),
        Duration.ofSeconds(3));
  }
}
