package io.mortise.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.InputStream;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A native image has the resources that the metadata names, and no others: GraalVM reads {@code
 * reachability-metadata.json} since that for JDK 23, and {@code resource-config.json} before.
 */
class NativeImageTest {
  private static final Path RESOURCES = Path.of("src", "main", "resources");

  @Test
  void thePatternNamesEveryScript() throws Exception {
    String pattern = value("resource-config.json", "pattern").replace("\\\\", "\\");

    assertEquals(scripts(), resources(name -> name.matches(pattern)));
  }

  @Test
  void theGlobNamesEveryScript() throws Exception {
    PathMatcher glob =
        FileSystems.getDefault()
            .getPathMatcher("glob:" + value("reachability-metadata.json", "glob"));

    assertEquals(scripts(), resources(name -> glob.matches(Path.of(name))));
  }

  private static List<String> scripts() throws Exception {
    List<String> scripts = resources(name -> name.endsWith(".lua"));
    assertTrue(scripts.contains("io/mortise/scripts/lock/acquire.lua"), scripts::toString);
    return scripts;
  }

  private static List<String> resources(Predicate<String> wanted) throws Exception {
    try (Stream<Path> files = Files.walk(RESOURCES)) {
      return files
          .filter(Files::isRegularFile)
          .map(file -> RESOURCES.relativize(file).toString().replace('\\', '/'))
          .filter(wanted)
          .sorted()
          .toList();
    }
  }

  /** Returns the only value of that name in a file of the metadata, as the jar has it. */
  private static String value(String file, String name) throws Exception {
    String path = "/META-INF/native-image/io.mortise/mortise-scripts/" + file;
    try (InputStream in = Script.class.getResourceAsStream(path)) {
      String json = new String(in.readAllBytes(), UTF_8);
      List<String> values =
          Pattern.compile("\"%s\": \"([^\"]*)\"".formatted(name))
              .matcher(json)
              .results()
              .map(result -> result.group(1))
              .toList();
      assertEquals(1, values.size(), json);
      return values.get(0);
    }
  }
}
