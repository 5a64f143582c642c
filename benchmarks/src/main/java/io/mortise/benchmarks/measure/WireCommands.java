package io.mortise.benchmarks.measure;

import java.util.Map;
import java.util.Set;

/**
 * Counts the commands that came over the wire.
 *
 * <p>Redis counts a command of a script like one of a client, in {@code total_commands_processed}
 * and in {@code commandstats} (6.2 and 7.0, tried). So this counts the commands that no script can
 * call, EVALSHA and SUBSCRIBE above all; and if no script ran, every command.
 */
public final class WireCommands {
  private static final Set<String> SCRIPTS =
      Set.of("eval", "evalsha", "eval_ro", "evalsha_ro", "fcall", "fcall_ro");

  private static final Set<String> NEVER_IN_SCRIPTS =
      Set.of(
          "script",
          "function",
          "subscribe",
          "unsubscribe",
          "psubscribe",
          "punsubscribe",
          "ssubscribe",
          "sunsubscribe",
          "ping",
          "multi",
          "exec",
          "discard",
          "watch",
          "wait",
          "waitaof",
          "blpop",
          "brpop",
          "hello",
          "client",
          "select",
          "quit",
          "reset");

  private WireCommands() {}

  /**
   * Returns their number.
   *
   * @param stats calls by command, as {@code INFO commandstats} has them
   */
  public static long count(Map<String, Long> stats) {
    boolean scripted = stats.keySet().stream().anyMatch(SCRIPTS::contains);
    return stats.entrySet().stream()
        .filter(stat -> !scripted || cameOverTheWire(stat.getKey()))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  private static boolean cameOverTheWire(String command) {
    String name = command.split("\\|", 2)[0];
    return SCRIPTS.contains(name) || NEVER_IN_SCRIPTS.contains(name);
  }
}
