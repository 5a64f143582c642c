package io.mortise.core.spi;

import java.time.Duration;

/**
 * For how long a waiter that gives no sign of life may delay those behind it.
 *
 * <p>A sign is sent four times in that time, and one counts for three quarters of it: whoever is
 * next to send one finds the dead waiter's time over, at most the whole time after its death. If
 * those behind have another time, it is three quarters of the dead one's and a quarter of theirs.
 *
 * @param limit the whole time, from 200 ms to 1 h
 */
public record WaiterTimeout(Duration limit) {
  /** If nothing else is said: 10 s. */
  public static final Duration DEFAULT = Duration.ofSeconds(10);

  private static final Duration LEAST = Duration.ofMillis(200);
  private static final Duration MOST = Duration.ofHours(1);
  private static final int SIGNS = 4;

  /** Refuses a time that is out of its range. */
  public WaiterTimeout {
    if (limit.compareTo(LEAST) < 0 || limit.compareTo(MOST) > 0) {
      throw new IllegalArgumentException(
          "waiterTimeout must be from %s to %s, not %s".formatted(LEAST, MOST, limit));
    }
  }

  /** How often a sign is sent. */
  public long heartbeatIntervalMillis() {
    return limit.toMillis() / SIGNS;
  }

  /** For how long a sign counts. */
  public long heartbeatValidityMillis() {
    return limit.toMillis() - heartbeatIntervalMillis();
  }
}
