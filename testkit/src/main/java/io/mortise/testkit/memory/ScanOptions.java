package io.mortise.testkit.memory;

import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/**
 * What an iteration returns. It ends with its first reply, which has everything: a server may
 * return any number of elements at a time.
 *
 * @param match of the keys or fields
 * @param type of the keys; empty for all
 */
record ScanOptions(Pattern match, String type) {
  /** Reads the words of SCAN: the cursor, then options. */
  static ScanOptions ofKeys(List<String> words) {
    return of(words, true);
  }

  /** Reads the words of HSCAN after its key: the cursor, then options. */
  static ScanOptions ofFields(List<String> words) {
    return of(words, false);
  }

  private static ScanOptions of(List<String> words, boolean ofKeys) {
    if (!words.get(0).matches("\\d+")) {
      throw new RedisError("ERR invalid cursor");
    }
    String glob = "*";
    String type = "";
    for (int i = 1; i < words.size(); i += 2) {
      if (i + 1 == words.size()) {
        throw RedisError.syntax();
      }
      String option = words.get(i).toUpperCase(Locale.ROOT);
      String value = words.get(i + 1);
      if (option.equals("MATCH")) {
        glob = value;
      } else if (option.equals("TYPE") && ofKeys) {
        type = value;
      } else if (!option.equals("COUNT") || Words.integer(value) < 1) {
        throw RedisError.syntax();
      }
    }
    return new ScanOptions(GlobPattern.compile(glob), type);
  }

  boolean matches(String name) {
    return match.matcher(name).matches();
  }

  boolean isOfType(String ofKey) {
    return type.isEmpty() || type.equalsIgnoreCase(ofKey);
  }

  /** Returns the reply with these elements: the cursor says that there are no others. */
  static List<Object> reply(List<String> elements) {
    return List.of("0", elements);
  }
}
