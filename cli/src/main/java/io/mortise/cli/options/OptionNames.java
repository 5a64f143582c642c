package io.mortise.cli.options;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The options of the command, in messages of the library, which name its own settings, and times as
 * the options have them.
 */
public final class OptionNames {
  /** A name in quotes, which stays as it is, or a duration that stands alone. */
  private static final Pattern NAME_OR_DURATION =
      Pattern.compile("(?<!\\w)'[^']*'|(?<![^\\s(])PT[0-9HMS.]*[HMS](?=[\\s,;:.)]|$)");

  /** The units of the options, and their milliseconds, the largest first. */
  private static final Map<String, Long> UNITS = units();

  private static final String SENTINEL_LOGIN =
      "those of the sentinels in --sentinel-user and the variable "
          + RedisUris.SENTINEL_PASSWORD_VARIABLE;

  private OptionNames() {}

  /** Returns a message of the library, with the options of the command for its settings. */
  public static String in(String message) {
    return withTimes(message)
        .replaceFirst(
            "waited for Redis as long as LockOptions\\.outageTimeout, (\\S+), allows",
            "waited for Redis for $1, and --wait allows for a longer time")
        .replace("LockOptions.commandTimeout", "--timeout")
        .replace(", or set a longer nodeWaitBudget", "")
        .replace("LockOptions.namespace", "--namespace")
        .replace("a context of TLS is for", "--cacert is for")
        .replace("those of the sentinels in its ConnectionSecurity", SENTINEL_LOGIN)
        .replace(", or lower LockTuning.maxConnections", "")
        .replace(
            "; raise LockTuning.maxConnections, or the size of the pool of your Jedis client", "")
        .replace("and trust its issuer", "and trust its issuer with --cacert")
        .replace("and the trust store", "and the certificates of --cacert")
        .replace("; other settings are in LockOptions", "; other settings are options of mortise")
        .replace(
            "use atLeast(lease), and release it early",
            "use --at-least with the same time, and let the command end before it");
  }

  /** The same for a message that begins with the setting that it refuses. */
  static String inRefusal(String message) {
    return withTimes(message)
        .replaceFirst("^commandTimeout\\b", "--timeout")
        .replaceFirst("^lease\\b", "--ttl");
  }

  private static String withTimes(String message) {
    return NAME_OR_DURATION
        .matcher(message)
        .replaceAll(found -> Matcher.quoteReplacement(timeOrName(found.group())));
  }

  private static String timeOrName(String found) {
    try {
      return found.startsWith("'") ? found : time(found, Duration.parse(found));
    } catch (DateTimeParseException | ArithmeticException e) { // none, or too long for a number
      return found;
    }
  }

  /** Returns a duration in the largest unit of which it is a whole number. */
  private static String time(String iso, Duration duration) {
    if (duration.isZero()) {
      return "0";
    }
    long millis = duration.toMillis();
    return UNITS.entrySet().stream()
        .filter(unit -> Duration.ofMillis(millis).equals(duration) && millis % unit.getValue() == 0)
        .findFirst()
        .map(unit -> millis / unit.getValue() + unit.getKey())
        .orElse(iso);
  }

  private static Map<String, Long> units() {
    Map<String, Long> units = new LinkedHashMap<>();
    units.put("d", 86_400_000L);
    units.put("h", 3_600_000L);
    units.put("m", 60_000L);
    units.put("s", 1_000L);
    units.put("ms", 1L);
    return units;
  }
}
