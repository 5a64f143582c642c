package io.mortise.core;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Converts and checks durations.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class Durations {
  /** The longest lease and the longest wait. */
  static final Duration MAX = Duration.ofDays(365);

  private Durations() {}

  /** Returns the duration; zero for less than zero. */
  static Duration of(long time, TimeUnit unit) {
    Objects.requireNonNull(unit, "unit");
    return time <= 0 ? Duration.ZERO : Duration.ofNanos(unit.toNanos(time));
  }

  /** Refuses a duration that is out of this range; the message names it. */
  static void checkWithin(String what, Duration value, Duration least, Duration most) {
    Objects.requireNonNull(value, what);
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw new IllegalArgumentException(
          "%s must be from %s to %s, not %s".formatted(what, least, most, value));
    }
  }
}
