package io.mortise.it.artefacts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The lists that a new module has to be added to: the bill of materials, the list of packages whose
 * API is compared with that of the last release, and the metadata for native images. A module is
 * published unless its pom says {@code maven.deploy.skip}.
 */
class PublishedModulesTest {
  private static final Path ROOT = Path.of("..");
  private static final Pom PARENT = Pom.of(ROOT.resolve("pom.xml"));
  private static final Pom BOM = Pom.of(ROOT.resolve("bom/pom.xml"));

  /** Returns the folders of the modules with a jar that is published. */
  private static List<Path> published() {
    List<Path> folders =
        PARENT.texts("/project/modules/module").stream()
            .map(ROOT::resolve)
            .filter(folder -> Files.isDirectory(folder.resolve("src/main")))
            .filter(
                folder ->
                    Pom.of(folder.resolve("pom.xml"))
                        .texts("/project/properties/maven.deploy.skip")
                        .isEmpty())
            .toList();
    assertTrue(folders.contains(ROOT.resolve("core")), folders::toString);
    return folders;
  }

  @Test
  void theBillOfMaterialsHasEachOfThemAndNothingElse() {
    List<String> artefacts =
        published().stream()
            .flatMap(
                folder -> Pom.of(folder.resolve("pom.xml")).texts("/project/artifactId").stream())
            .toList();
    String dependency = "/project/dependencyManagement/dependencies/dependency/";

    assertEquals(artefacts, BOM.texts(dependency + "artifactId"));
    assertEquals(
        artefacts.stream().map(artefact -> "${project.version}").toList(),
        BOM.texts(dependency + "version"));
  }

  /** It has no parent, so what both say is written twice. */
  @Test
  void theBillOfMaterialsSaysOfItselfWhatTheParentSays() {
    for (String element :
        List.of(
            "groupId",
            "version",
            "url",
            "licenses",
            "developers",
            "scm",
            "properties/project.home")) {
      assertEquals(PARENT.texts("/project/" + element), BOM.texts("/project/" + element), element);
    }
  }

  @Test
  void theApiOfEveryExportedPackageIsCompared() throws Exception {
    List<String> exported = new ArrayList<>();
    for (Path folder : published()) {
      String module = Files.readString(folder.resolve("src/main/java/module-info.java"));
      // One that is exported to some modules has no semicolon after its name.
      find("exports ([a-z0-9.]+);", module).map(match -> match.group(1)).forEach(exported::add);
    }

    assertEquals(exported, PARENT.texts("//plugin[artifactId='japicmp-maven-plugin']//include"));
  }

  /** The first release of a major version may break the API, and is the first to compare with. */
  @Test
  void theApiIsComparedWithinAMajorVersion() {
    String version = PARENT.texts("/project/version").get(0);
    boolean unstable = version.matches("(0\\..*|[0-9]+\\.0\\.0)(-SNAPSHOT)?");

    assertEquals(
        List.of(String.valueOf(unstable)), PARENT.texts("/project/properties/api.check.skip"));
    assertEquals(
        unstable, PARENT.texts("/project/properties/api.baseline").equals(List.of("none")));
  }

  /** A native image has only those methods that it can see, or that the metadata names. */
  @Test
  void everyMethodThatIsLookedUpIsInTheMetadataForNativeImages() throws Exception {
    List<String> found = new ArrayList<>();
    for (Path folder : published()) {
      for (Path source : sources(folder)) {
        String text = Files.readString(source);
        assertTrue(
            find("Class\\.forName|ServiceLoader|\\.getDeclared|getConstructor", text)
                .findAny()
                .isEmpty(),
            () -> source + " uses reflection that this test does not know");
        for (MatchResult call :
            find("(\\w+)\\.class\\s*\\.getMethod\\(\\s*\"(\\w+)\"", text).toList()) {
          found.add(call.group(2));
          assertNamed(folder, "reflect-config.json", "name", call);
          assertNamed(folder, "reachability-metadata.json", "type", call);
        }
      }
    }

    assertEquals(List.of("newVirtualThreadPerTaskExecutor", "isVirtual"), found);
  }

  private static void assertNamed(Path folder, String file, String key, MatchResult call)
      throws Exception {
    String artefact = "mortise-" + folder.getFileName();
    Path metadata =
        folder.resolve("src/main/resources/META-INF/native-image/io.mortise").resolve(artefact);
    String json = Files.readString(metadata.resolve(file));
    String entry =
        "\"%s\": \"[a-z.]+\\.%s\",\\s*\"methods\": \\[\\{ \"name\": \"%s\""
            .formatted(key, call.group(1), call.group(2));

    assertTrue(find(entry, json).findAny().isPresent(), () -> file + " has no " + entry);
  }

  private static List<Path> sources(Path folder) throws Exception {
    try (Stream<Path> files = Files.walk(folder.resolve("src/main/java"))) {
      return files.filter(file -> file.toString().endsWith(".java")).sorted().toList();
    }
  }

  private static Stream<MatchResult> find(String pattern, String text) {
    return Pattern.compile(pattern).matcher(text).results();
  }
}
