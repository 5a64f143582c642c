package io.mortise.testkit.memory;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The commands that a server knows, by their names.
 *
 * <p><b>Threads.</b> Filled by one thread, then read only.
 */
final class CommandTable {
  /** One command; its words are those after the name. */
  @FunctionalInterface
  interface Command {
    @Nullable Object run(List<String> words);
  }

  private record Entry(int least, int most, Command command) {}

  private final Map<String, Entry> entries = new HashMap<>();

  /**
   * Adds a command.
   *
   * @param least how many words the command needs
   * @param most how many words it takes; negative for any number
   */
  void add(String name, int least, int most, Command command) {
    entries.put(name, new Entry(least, most, command));
  }

  /**
   * Runs a command.
   *
   * @param words the name, then its words
   * @throws RedisError if the reply is an error
   */
  @Nullable Object run(List<String> words) {
    String name = words.get(0).toUpperCase(Locale.ROOT);
    Entry entry = entries.get(name);
    if (entry == null) {
      throw new RedisError("ERR unknown command '%s'".formatted(words.get(0)));
    }
    int count = words.size() - 1;
    if (count < entry.least() || (entry.most() >= 0 && count > entry.most())) {
      throw new RedisError(
          "ERR wrong number of arguments for '%s' command"
              .formatted(name.toLowerCase(Locale.ROOT)));
    }
    return entry.command().run(words.subList(1, words.size()));
  }
}
