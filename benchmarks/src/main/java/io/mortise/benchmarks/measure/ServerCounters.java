package io.mortise.benchmarks.measure;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The counters of a server since its start, as {@code INFO all} has them.
 *
 * @param scripts calls of EVALSHA and EVAL
 * @param scriptMicros the time in them, with all that they call
 * @param publishes calls of PUBLISH, those of scripts too
 * @param reads times that it read from a connection
 * @param writes times that it wrote to one
 * @param cpuMicros processor time of the process
 */
public record ServerCounters(
    long scripts, long scriptMicros, long publishes, long reads, long writes, long cpuMicros) {
  private static final double MICROS_PER_SECOND = 1e6;
  private static final Pattern FIELD = Pattern.compile("(?m)^(\\w+(?:\\|\\w+)?):(.*?)\\s*$");
  private static final Pattern CALLS = Pattern.compile("calls=(\\d+),usec=(\\d+),.*");

  /** Reads the text of {@code INFO all}. */
  public static ServerCounters parse(String info) {
    Map<String, String> fields =
        FIELD
            .matcher(info)
            .results()
            .collect(
                Collectors.toMap(each -> each.group(1), each -> each.group(2), (one, two) -> two));
    return new ServerCounters(
        command(fields, "evalsha", 1) + command(fields, "eval", 1),
        command(fields, "evalsha", 2) + command(fields, "eval", 2),
        command(fields, "publish", 1) + command(fields, "spublish", 1),
        (long) number(fields, "total_reads_processed"),
        (long) number(fields, "total_writes_processed"),
        Math.round(
            MICROS_PER_SECOND
                * (number(fields, "used_cpu_sys") + number(fields, "used_cpu_user"))));
  }

  /** The counts since an earlier moment. */
  public ServerCounters since(ServerCounters earlier) {
    return new ServerCounters(
        scripts - earlier.scripts,
        scriptMicros - earlier.scriptMicros,
        publishes - earlier.publishes,
        reads - earlier.reads,
        writes - earlier.writes,
        cpuMicros - earlier.cpuMicros);
  }

  /**
   * The messages that were delivered to subscribers. A command is read once and answered by one
   * write, whereas a message is a write alone. Two messages to one subscriber that leave Redis
   * together count once.
   */
  public long messages() {
    return Math.max(0, writes - reads);
  }

  private static long command(Map<String, String> fields, String name, int group) {
    Matcher matcher = CALLS.matcher(fields.getOrDefault("cmdstat_" + name, ""));
    return matcher.matches() ? Long.parseLong(matcher.group(group)) : 0;
  }

  private static double number(Map<String, String> fields, String name) {
    return Double.parseDouble(fields.getOrDefault(name, "0"));
  }
}
