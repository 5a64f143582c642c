package io.mortise.core;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Units are converted here, at the edge, and nowhere else. */
final class Durations {
  private Durations() {}

  /** A wait as {@code java.util.concurrent} gives it: zero or less is one attempt. */
  static Duration of(long time, TimeUnit unit) {
    return time <= 0 ? Duration.ZERO : Duration.ofNanos(unit.toNanos(time));
  }
}
