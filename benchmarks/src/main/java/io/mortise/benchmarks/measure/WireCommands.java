package io.mortise.benchmarks.measure;

import java.util.Map;
import java.util.Set;

/**
 * How many commands came over the wire.
 *
 * <p>Redis counts what a script calls like what a client sends, in {@code total_commands_processed}
 * and in {@code commandstats} (6.2 and 7.0, tried). So what is counted here are the commands that
 * no script can call, EVALSHA and SUBSCRIBE above all; and when no script ran at all, every
 * command.
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
   * Adds them up.
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
