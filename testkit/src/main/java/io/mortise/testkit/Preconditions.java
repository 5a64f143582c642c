package io.mortise.testkit;

import java.time.Duration;
import java.util.Objects;

/**
 * Refuses bad input, with the value in the message.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class Preconditions {
  private Preconditions() {}

  static int inRange(String what, int value, int least, int most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s must be from %d to %d, not %d".formatted(what, least, most, value));
    }
    return value;
  }

  /** As a word of {@code redis.conf}. */
  static String millis(String what, Duration time) {
    Objects.requireNonNull(time, what);
    if (time.compareTo(Duration.ofMillis(100)) < 0 || time.compareTo(Duration.ofDays(1)) > 0) {
      throw new IllegalArgumentException(
          "%s must be from 100 ms to a day, not %s".formatted(what, time));
    }
    return Long.toString(time.toMillis());
  }

  static Duration notNegative(String what, Duration time) {
    if (Objects.requireNonNull(time, what).isNegative()) {
      throw new IllegalArgumentException(
          "%s must not be negative, but is %s".formatted(what, time));
    }
    return time;
  }

  static String notEmpty(String what, String value) {
    if (Objects.requireNonNull(value, what).isEmpty()) {
      throw new IllegalArgumentException("the %s is empty".formatted(what));
    }
    return value;
  }
}
