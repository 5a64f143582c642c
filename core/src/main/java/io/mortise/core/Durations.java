package io.mortise.core;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Converts the time units of {@code java.util.concurrent} into a {@link Duration}. */
final class Durations {
  private Durations() {}

  /** Returns the duration of a wait; zero or less is one attempt. */
  static Duration of(long time, TimeUnit unit) {
    return time <= 0 ? Duration.ZERO : Duration.ofNanos(unit.toNanos(time));
  }
}
