package io.mortise.cli;

import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Reads a duration such as {@code 2s} or {@code 1500ms}. */
final class LeaseConverter implements ITypeConverter<Duration> {
  private static final Pattern TIME = Pattern.compile("(\\d{1,9})(ms|s)");

  @Override
  public Duration convert(String value) {
    Matcher time = TIME.matcher(value);
    if (!time.matches()) {
      throw new TypeConversionException("'%s' is not a time such as 2s or 1500ms".formatted(value));
    }
    long amount = Long.parseLong(time.group(1));
    return time.group(2).equals("s") ? Duration.ofSeconds(amount) : Duration.ofMillis(amount);
  }
}
