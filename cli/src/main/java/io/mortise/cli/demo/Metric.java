package io.mortise.cli.demo;

import java.time.Duration;

/**
 * A figure of a chapter.
 *
 * @param key its name in the JSON, with the unit if it has one
 * @param label its name in the table and on the page
 * @param value the number
 * @param unit empty if it is a plain count
 * @param headline whether the table has it too, not only the page and the JSON
 * @param of the thing that it belongs to, of several that are compared; empty if there is only one
 */
public record Metric(
    String key, String label, Number value, String unit, boolean headline, String of) {
  private static final double NANOS_PER_MILLI = 1e6;

  /** From this number on the text has no tenths. */
  private static final double WHOLE_FROM = 100;

  /** A figure without comparison. */
  public Metric(String key, String label, Number value, String unit, boolean headline) {
    this(key, label, value, unit, headline, "");
  }

  /** A count for the table. */
  public static Metric count(String key, String label, long value) {
    return new Metric(key, label, value, "", true);
  }

  /** A time in ms for the table. */
  public static Metric millis(String key, String label, long nanos) {
    double tenths = Math.round(nanos / NANOS_PER_MILLI * 10) / 10.0;
    return new Metric(key, label, tenths, "ms", true);
  }

  /** A time in ms for the table. */
  public static Metric millis(String key, String label, Duration time) {
    return millis(key, label, time.toNanos());
  }

  /** The same, for the page and the JSON only. */
  public Metric aside() {
    return new Metric(key, label, value, unit, false, of);
  }

  /**
   * The same, as one of several things that are compared.
   *
   * @param prefix the beginning of its key, so that keys are unique
   * @param title the name of the thing
   */
  public Metric as(String prefix, String title) {
    String rest = Character.toUpperCase(key.charAt(0)) + key.substring(1);
    return new Metric(prefix + rest, label, value, unit, headline, title);
  }

  /** The text: few digits, then the unit. */
  public String text() {
    double number = value.doubleValue();
    boolean whole = number == Math.rint(number) || number >= WHOLE_FROM;
    String digits = whole ? "%.0f".formatted(number) : "%.1f".formatted(number);
    return unit.isEmpty() ? digits : digits + " " + unit;
  }

  /** The text of a time. */
  public static String millisText(long nanos) {
    return millis("", "", nanos).text();
  }
}
