package io.mortise.cli.options;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Reads a time such as {@code 1500ms}, {@code 2s}, {@code 5m}, {@code 1h} or {@code 2d}, the form
 * of ISO 8601 ({@code PT5S}), and {@code 0}, which needs no unit. At most 365 days.
 */
public final class TimeConverter implements ITypeConverter<Duration> {
  /** Longer times overflow where they are counted in nanoseconds. */
  private static final Duration MAX = Duration.ofDays(365);

  private static final Pattern TIME = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)");

  @Override
  public Duration convert(String value) {
    Duration time = read(value);
    if (time.compareTo(MAX) > 0) {
      throw new TypeConversionException(
          "'%s' is too long; the maximum is %dd".formatted(value, MAX.toDays()));
    }
    return time;
  }

  private static Duration read(String value) {
    Matcher time = TIME.matcher(value);
    if (time.matches()) {
      long amount = Long.parseLong(time.group(1));
      return switch (time.group(2)) {
        case "ms" -> Duration.ofMillis(amount);
        case "s" -> Duration.ofSeconds(amount);
        case "m" -> Duration.ofMinutes(amount);
        case "h" -> Duration.ofHours(amount);
        default -> Duration.ofDays(amount);
      };
    }
    if (value.equals("0")) {
      return Duration.ZERO;
    }
    try {
      Duration iso = Duration.parse(value);
      if (!iso.isNegative()) {
        return iso;
      }
    } catch (DateTimeParseException e) {
      // refused below, as a negative one
    }
    throw new TypeConversionException(
        "'%s' is not a time such as 2s or 1500ms; the units are ms, s, m, h and d"
            .formatted(value));
  }
}
