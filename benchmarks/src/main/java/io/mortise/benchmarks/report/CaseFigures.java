package io.mortise.benchmarks.report;

import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The figures of a {@link Rows row} that only some cases have, and how a number is written. */
final class CaseFigures {

  private CaseFigures() {}

  /** Returns the figures by their fields, in alphabetical order. */
  static Map<String, Number> of(Map<String, @Nullable Object> row) {
    Map<String, Number> figures = new TreeMap<>();
    row.forEach(
        (field, value) -> {
          if (isOfCase(field) && value instanceof Number number) {
            figures.put(field, number);
          }
        });
    return figures;
  }

  private static boolean isOfCase(String field) {
    return field.endsWith("_share")
        || field.startsWith("hand_off")
        || field.endsWith("_per_waiter")
        || field.endsWith("_per_hold")
        || (field.endsWith("_per_op") && !field.equals("redis_commands_per_op"))
        || field.startsWith("entry_")
        || field.startsWith("exit_")
        || field.startsWith("server_")
        || field.startsWith("redis_cpu")
        || field.equals("redis_bytes")
        || field.endsWith("connections")
        || (field.endsWith("per_s") && !field.equals("ops_per_s"))
        || field.startsWith("cpu_")
        || field.startsWith("ping_")
        || field.startsWith("p50_ratio")
        || field.equals("lost")
        || field.equals("errors");
  }

  /** Returns the number with three digits or more, or a dash for what was not measured. */
  static String text(@Nullable Object value) {
    if (!(value instanceof Number number)) {
      return "-";
    }
    double figure = number.doubleValue();
    if (Math.abs(figure) >= 1000) {
      return String.format(Locale.ROOT, "%,.0f", figure);
    }
    return String.format(Locale.ROOT, Math.abs(figure) >= 100 ? "%.0f" : "%.2f", figure);
  }
}
