package io.mortise.artefacts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;

/** Each artefact is in the repository with everything that Maven Central asks for. */
class ArtefactsTest {
  private static final List<Path> JARS =
      ClassPath.entries().stream()
          .filter(entry -> entry.getFileName().toString().startsWith("mortise-"))
          .toList();

  @Test
  void eachJarHasTheLicenceAndSoHaveItsSourcesAndItsDocumentation() throws Exception {
    assertEquals(12, JARS.size(), JARS::toString);
    for (Path jar : JARS) {
      for (String kind : List.of("", "-sources", "-javadoc")) {
        assertHas(sibling(jar, kind + ".jar"), "META-INF/LICENSE");
      }
      assertHas(jar, "module-info.class");
      assertHas(sibling(jar, "-sources.jar"), "module-info.java");
      assertHas(sibling(jar, "-javadoc.jar"), "index.html");
    }
  }

  @Test
  void eachProjectFileDescribesItsArtefact() throws Exception {
    for (Path jar : JARS) {
      assertDescribes(sibling(jar, ".pom"), "name", "description", "parent");
    }
    Path group = JARS.get(0).getParent().getParent().getParent();
    String version = JARS.get(0).getParent().getFileName().toString();
    for (String artefact : List.of("mortise", "mortise-bom")) {
      assertDescribes(
          group.resolve(artefact).resolve(version).resolve(artefact + "-" + version + ".pom"),
          "name",
          "description",
          "url",
          "licenses",
          "developers",
          "scm");
    }
  }

  private static Path sibling(Path jar, String suffix) {
    return jar.resolveSibling(jar.getFileName().toString().replaceFirst("\\.jar$", suffix));
  }

  private static void assertHas(Path jar, String entry) throws Exception {
    try (ZipFile file = new ZipFile(jar.toFile())) {
      assertNotNull(file.getEntry(entry), () -> jar + " has no " + entry);
    }
  }

  private static void assertDescribes(Path pom, String... elements) throws Exception {
    String text = Files.readString(pom);
    for (String element : elements) {
      // Those of the project itself are indented by two.
      assertTrue(text.contains("\n  <" + element), () -> pom + " has no " + element);
    }
  }
}
