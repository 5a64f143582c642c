package io.mortise.cli.demo;

import java.time.Duration;
import java.util.Locale;

/**
 * A number that a chapter found.
 *
 * @param key its name in the JSON, with the unit if it has one
 * @param label its name for people
 * @param value the number
 * @param unit empty if it is a plain count
 * @param headline whether it belongs into the table, besides the page
 */
public record Figure(String key, String label, Number value, String unit, boolean headline) {
  private static final double NANOS_PER_MILLI = 1e6;

  /** A count that belongs into the table. */
  public static Figure count(String key, String label, long value) {
    return new Figure(key, label, value, "", true);
  }

  /** A time in ms that belongs into the table. */
  public static Figure millis(String key, String label, long nanos) {
    double tenths = Math.round(nanos / NANOS_PER_MILLI * 10) / 10.0;
    return new Figure(key, label, tenths, "ms", true);
  }

  /** A time in ms that belongs into the table. */
  public static Figure millis(String key, String label, Duration time) {
    return millis(key, label, time.toNanos());
  }

  /** The same, for the page and the JSON only. */
  public Figure aside() {
    return new Figure(key, label, value, unit, false);
  }

  /** For people: no needless digits, thousands apart, the unit behind. */
  public String text() {
    boolean whole = value.doubleValue() == value.longValue();
    String number =
        whole || value.doubleValue() >= 100
            ? String.format(Locale.ROOT, "%,d", Math.round(value.doubleValue())).replace(',', ' ')
            : String.format(Locale.ROOT, "%.1f", value.doubleValue());
    return unit.isEmpty() ? number : number + " " + unit;
  }
}
