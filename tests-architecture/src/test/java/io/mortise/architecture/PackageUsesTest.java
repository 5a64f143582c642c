package io.mortise.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The last paragraph of each {@code package-info.java} begins with "Uses:" and names the packages
 * of Mortise that the files of the package import.
 */
class PackageUsesTest {
  private static final Pattern SOURCE = Pattern.compile("/src/main/java/io/mortise/(.+)/.+\\.java");

  private static final Pattern IMPORT =
      Pattern.compile("(?m)^import (?:static )?io\\.mortise\\.([a-z.]+)\\.[A-Z]");

  private static final Pattern USES = Pattern.compile("(?s)<p>Uses: (.*?)\\*/");

  /** The formatter may break the line before a name. */
  private static final Pattern NAME = Pattern.compile("\\{@code[\\s*]+([a-z.]+)\\}");

  @Test
  void thePackageInfoNamesWhatThePackageImports() throws IOException {
    Map<String, Set<String>> imported = new TreeMap<>();
    Map<String, Set<String>> named = new TreeMap<>();
    for (Path file : SourceFiles.ofMainCode()) {
      List<String> path = groups(SOURCE, file.toString());
      if (path.isEmpty()) {
        continue;
      }
      String name = path.get(0).replace('/', '.');
      String source = Files.readString(file);
      add(imported, name, groups(IMPORT, source));
      if (file.endsWith("package-info.java")) {
        groups(USES, source).forEach(uses -> add(named, name, groups(NAME, uses)));
      }
    }
    imported.forEach((name, packages) -> packages.remove(name)); // nested types of its own

    assertEquals(imported, named);
  }

  private static void add(Map<String, Set<String>> all, String name, Collection<String> packages) {
    all.computeIfAbsent(name, each -> new TreeSet<>()).addAll(packages);
  }

  private static List<String> groups(Pattern pattern, String text) {
    return pattern.matcher(text).results().map(match -> match.group(1)).toList();
  }
}
