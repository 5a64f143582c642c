package io.mortise.it.contract;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The rights that docs/wire.md says a user needs. */
final class Rights {
  /** What stands in the document for the names of the user's locks. */
  private static final String NAMES = "~orders:*";

  private Rights() {}

  /** The rules of {@code ACL SETUSER}, one by one, for lock names with that prefix. */
  static List<String> documented(String prefix) throws IOException {
    List<String> rules = new ArrayList<>();
    List<String> document = Files.readAllLines(Path.of("..", "docs", "wire.md"));
    // The first block of the section; what follows is for other kinds of locks besides.
    document.subList(document.indexOf("## Rights") + 1, document.size()).stream()
        .dropWhile(line -> !line.startsWith("    "))
        .takeWhile(line -> line.startsWith("    "))
        .forEach(line -> rules.addAll(Arrays.asList(line.trim().split(" +", -1))));
    if (!rules.remove(NAMES)) {
      throw new AssertionError("docs/wire.md has no rights with " + NAMES + " in them: " + rules);
    }
    rules.add("~" + prefix + "*");
    return rules;
  }
}
