package io.mortise.cli.demo;

import java.time.Duration;

/**
 * A number that a chapter found.
 *
 * @param key its name in the JSON, with the unit if it has one
 * @param label its name for people
 * @param value the number
 * @param unit empty if it is a plain count
 * @param headline whether it belongs into the table, besides the page
 * @param of of which of several things that are compared; empty if there is nothing to compare
 */
public record Metric(
    String key, String label, Number value, String unit, boolean headline, String of) {
  private static final double NANOS_PER_MILLI = 1e6;

  /** From here on a tenth of a unit says nothing. */
  private static final double WHOLE_FROM = 100;

  /** A number that is compared with no other. */
  public Metric(String key, String label, Number value, String unit, boolean headline) {
    this(key, label, value, unit, headline, "");
  }

  /** A count that belongs into the table. */
  public static Metric count(String key, String label, long value) {
    return new Metric(key, label, value, "", true);
  }

  /** A time in ms that belongs into the table. */
  public static Metric millis(String key, String label, long nanos) {
    double tenths = Math.round(nanos / NANOS_PER_MILLI * 10) / 10.0;
    return new Metric(key, label, tenths, "ms", true);
  }

  /** A time in ms that belongs into the table. */
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
   * @param prefix what its key begins with, so that no two are the same
   * @param words of which of them it is
   */
  public Metric as(String prefix, String words) {
    String rest = Character.toUpperCase(key.charAt(0)) + key.substring(1);
    return new Metric(prefix + rest, label, value, unit, headline, words);
  }

  /** For people: no needless digits, the unit behind. */
  public String text() {
    double number = value.doubleValue();
    boolean whole = number == Math.rint(number) || number >= WHOLE_FROM;
    String digits = whole ? "%.0f".formatted(number) : "%.1f".formatted(number);
    return unit.isEmpty() ? digits : digits + " " + unit;
  }

  /** A time as people read it. */
  public static String millisText(long nanos) {
    return millis("", "", nanos).text();
  }
}
