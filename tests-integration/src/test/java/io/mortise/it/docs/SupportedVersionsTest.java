package io.mortise.it.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The documents name the versions that the build uses and tests. */
class SupportedVersionsTest {
  private static final Path ROOT = Path.of("..");

  @ParameterizedTest
  @ValueSource(strings = {"jedis", "commons-pool2", "slf4j", "micrometer", "junit", "spring-boot"})
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

  @Test
  void theDocumentsNameTheVersionsOfRedissonThatRunBesideMortise() throws Exception {
    String lowest = property(Path.of("peers/redisson-3.16/pom.xml"), "peer.version");
    String between = property(Path.of("peers/redisson-3.24/pom.xml"), "peer.version");
    String newest = property(ROOT.resolve("pom.xml"), "redisson.version");
    String row = "| Redisson on the same name | %s | %s |".formatted(lowest, newest);
    assertContains("README.md", row, "beside Redisson " + between);
    String all = "Redisson %s, %s and %s".formatted(lowest, between, newest);
    assertContains("docs/wire.md", all + " beside Mortise");
    assertContains("docs/migrating-from-redisson.md", all + " beside", "of Redisson\n" + newest);
    assertContains("docs/dependencies.md", "they run %s and %s".formatted(lowest, between));
    assertContains("tests-integration/README.md", all);
  }

  @Test
  void theExamplesUseTheVersionsOfTheBuild() throws Exception {
    Path root = ROOT.resolve("pom.xml");
    Path examples = ROOT.resolve("examples");
    Path springBoot = examples.resolve("spring-boot-service/pom.xml");
    String mortise = property(root, "version");
    assertEquals(mortise, property(examples.resolve("pom.xml"), "mortise.version"));
    assertEquals(mortise, property(springBoot, "mortise.version"));
    assertEquals(property(root, "jedis.version"), property(springBoot, "jedis.version"));
    assertContains(
        "docs/spring.md",
        "Spring Boot %s and %s"
            .formatted(
                property(root, "spring-boot.lowest"), property(root, "spring-boot.version")));
    assertContains("examples/pom.xml", version("junit"), version("slf4j"));
    assertContains("examples/order-service/pom.xml", version("h2"));
    assertContains("examples/from-redisson/pom.xml", version("redisson"));
  }

  private static String version(String library) throws Exception {
    return "<version>" + property(ROOT.resolve("pom.xml"), library + ".version") + "</version>";
  }

  private static void assertContains(String document, String... texts) throws Exception {
    String text = Files.readString(ROOT.resolve(document));
    for (String wanted : texts) {
      assertTrue(text.contains(wanted), () -> document + " has no " + wanted);
    }
  }

  private static String quoted(String name) throws Exception {
    return Pattern.quote(property(ROOT.resolve("pom.xml"), name));
  }

  private static String property(Path pom, String name) throws Exception {
    Matcher value =
        Pattern.compile("<%1$s>(.*)</%1$s>".formatted(Pattern.quote(name)))
            .matcher(Files.readString(pom));
    assertTrue(value.find(), () -> pom + " has no property " + name);
    return value.group(1);
  }
}
