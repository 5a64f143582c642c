package io.mortise.it.docs;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The documents name the versions that the build uses and tests. */
class SupportedVersionsTest {
  private static final Path ROOT = Path.of("..");

  @ParameterizedTest
  @ValueSource(strings = {"jedis", "commons-pool2", "slf4j"})
  void theDocumentsNameTheVersionsOfTheBuild(String library) throws Exception {
    String row = ".*%s.*\\| `?%s`? \\| `?%s`? \\|.*";
    for (String document : new String[] {"README.md", "docs/dependencies.md"}) {
      String pattern =
          row.formatted(library, quoted(library + ".lowest"), quoted(library + ".version"));
      assertTrue(
          Files.readString(ROOT.resolve(document)).lines().anyMatch(line -> line.matches(pattern)),
          () -> document + " has no row " + pattern);
    }
  }

  private static String quoted(String property) throws Exception {
    Matcher value =
        Pattern.compile("<%1$s>(.*)</%1$s>".formatted(Pattern.quote(property)))
            .matcher(Files.readString(ROOT.resolve("pom.xml")));
    assertTrue(value.find(), () -> "pom.xml has no property " + property);
    return Pattern.quote(value.group(1));
  }
}
