package io.mortise.cli.text;

import java.time.Duration;
import java.util.Locale;

/** Times for people: two units at most, and as exact as they are read. */
public final class Times {
  private static final int SECONDS_WITH_TENTHS = 100;
  private static final int MINUTES_WITH_SECONDS = 100;
  private static final int HOURS_WITH_MINUTES = 48;

  private Times() {}

  /** Returns such as {@code 12.3 s}, {@code 5 min 3 s}, {@code 3 h 20 min}, {@code 2 d 4 h}. */
  public static String of(Duration time) {
    Duration positive = time.isNegative() ? Duration.ZERO : time;
    if (positive.toSeconds() < SECONDS_WITH_TENTHS) {
      return String.format(Locale.ROOT, "%.1f s", positive.toMillis() / 1_000.0);
    }
    if (positive.toMinutes() < MINUTES_WITH_SECONDS) {
      return "%d min %d s".formatted(positive.toMinutes(), positive.toSecondsPart());
    }
    return positive.toHours() < HOURS_WITH_MINUTES
        ? "%d h %d min".formatted(positive.toHours(), positive.toMinutesPart())
        : "%d d %d h".formatted(positive.toDays(), positive.toHoursPart());
  }
}
