package io.mortise.scripts;

import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The keys and arguments that the header comment of a script declares, checked against its body.
 *
 * @param keys how many keys a call, or an item of a batch, takes
 * @param arguments how many arguments a call, or an item of a batch, takes
 * @param batch whether the header has a line {@code -- EACH}
 */
record ScriptHeader(int keys, int arguments, boolean batch) {
  private static final Pattern DECLARED = Pattern.compile("(?m)^-- (KEYS|ARGV)\\[(\\d+)] \\S");
  private static final Pattern USED = Pattern.compile("(KEYS|ARGV)\\[(\\d+)]");
  private static final Pattern EACH = Pattern.compile("(?m)^-- EACH\\b");
  private static final Pattern COMMENT = Pattern.compile("--.*");

  static ScriptHeader of(String path, String text) {
    boolean batch = EACH.matcher(text).find();
    int keys = declared(path, "KEYS", text);
    int arguments = declared(path, "ARGV", text);
    if (keys == 0) {
      throw new IllegalArgumentException(
          "script '" + path + "' declares no key; a cluster could not route it");
    }
    // A batch script computes the indexes of its items, which no pattern can check.
    if (!batch) {
      String body = COMMENT.matcher(text).replaceAll("");
      check(path, "KEYS", keys, body);
      check(path, "ARGV", arguments, body);
    }
    return new ScriptHeader(keys, arguments, batch);
  }

  private static int declared(String path, String kind, String text) {
    TreeSet<Integer> indexes = indexes(DECLARED.matcher(text), kind);
    if (!indexes.isEmpty() && indexes.last() != indexes.size()) {
      throw new IllegalArgumentException(
          "script '%s' declares %s at %s, with a gap".formatted(path, kind, indexes));
    }
    return indexes.size();
  }

  private static void check(String path, String kind, int declared, String body) {
    TreeSet<Integer> used = indexes(USED.matcher(body), kind);
    if (used.size() != declared || (declared > 0 && used.last() != declared)) {
      throw new IllegalArgumentException(
          "script '%s' declares %d %s and uses %s".formatted(path, declared, kind, used));
    }
  }

  private static TreeSet<Integer> indexes(Matcher matcher, String kind) {
    TreeSet<Integer> indexes = new TreeSet<>();
    while (matcher.find()) {
      if (matcher.group(1).equals(kind)) {
        indexes.add(Integer.valueOf(matcher.group(2)));
      }
    }
    return indexes;
  }
}
