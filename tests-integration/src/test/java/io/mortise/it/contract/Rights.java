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
    boolean inSection = false;
    for (String line : Files.readAllLines(Path.of("..", "docs", "wire.md"))) {
      if (line.startsWith("## ")) {
        inSection = line.equals("## Rights");
      } else if (inSection && line.startsWith("    ")) {
        rules.addAll(Arrays.asList(line.trim().split(" +", -1)));
      }
    }
    if (!rules.remove(NAMES)) {
      throw new AssertionError("docs/wire.md has no rights with " + NAMES + " in them: " + rules);
    }
    rules.add("~" + prefix + "*");
    return rules;
  }
}
