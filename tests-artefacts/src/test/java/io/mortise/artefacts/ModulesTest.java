package io.mortise.artefacts;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.lang.module.Configuration;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.lang.module.ResolvedModule;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The artefacts are named modules, which work together on a module path. */
class ModulesTest {
  private static final String JAVA =
      System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";

  /** One for each test, because a finder that looks into files is for one thread. */
  private final ModuleFinder artefacts = ModuleFinder.of(ClassPath.entries().toArray(Path[]::new));

  @Test
  void everyLockWorksOnTheModulePath(@TempDir Path directory) throws Exception {
    ClassPath.assertEveryLockWorks(
        directory,
        JAVA,
        "--module-path",
        ClassPath.joined(),
        "--module",
        "io.mortise.artefacts/io.mortise.artefacts.WithTestKit");
  }

  /**
   * Jedis and Micrometer name themselves in their manifests. The other three, which only the test
   * kit requires, have their names from the names that their files have in a Maven repository.
   */
  @Test
  void onlyTheseLibrariesAreAutomaticModules() {
    Map<String, Set<String>> automatic = new TreeMap<>();
    for (ResolvedModule module : resolved().modules()) {
      if (module.name().startsWith("io.mortise.")) {
        automatic.put(
            module.name(),
            module.reference().descriptor().requires().stream()
                .map(ModuleDescriptor.Requires::name)
                .filter(name -> artefacts.find(name).map(ModulesTest::isAutomatic).orElse(false))
                .collect(Collectors.toCollection(TreeSet::new)));
      }
    }
    automatic.values().removeIf(Set::isEmpty);

    assertEquals(
        Map.of(
            "io.mortise.connection", Set.of("redis.clients.jedis"),
            "io.mortise.core", Set.of("redis.clients.jedis"),
            "io.mortise.fencing", Set.of("redis.clients.jedis"),
            "io.mortise.micrometer",
                Set.of("micrometer.commons", "micrometer.core", "micrometer.observation"),
            "io.mortise.testkit",
                Set.of("awaitility", "embedded.redis", "luaj.jme", "redis.clients.jedis")),
        automatic);
  }

  @Test
  void noArtefactIsAnAutomaticModule() {
    List<String> found =
        artefacts.findAll().stream()
            .filter(module -> module.descriptor().name().startsWith("io.mortise."))
            .filter(module -> !isAutomatic(module))
            .map(module -> module.descriptor().name())
            .sorted()
            .toList();

    assertEquals(
        List.of(
            "io.mortise.artefacts",
            "io.mortise.connection",
            "io.mortise.core",
            "io.mortise.fairlock",
            "io.mortise.fencing",
            "io.mortise.micrometer",
            "io.mortise.multilock",
            "io.mortise.redlock",
            "io.mortise.rwlock",
            "io.mortise.scripts",
            "io.mortise.segmentedlock",
            "io.mortise.spring.boot",
            "io.mortise.testkit"),
        found);
  }

  /** Fails if a module is missing, or two modules share a package. */
  private Configuration resolved() {
    return Configuration.resolve(
        artefacts,
        List.of(ModuleLayer.boot().configuration()),
        ModuleFinder.of(),
        Set.of("io.mortise.artefacts"));
  }

  private static boolean isAutomatic(ModuleReference module) {
    return module.descriptor().isAutomatic();
  }
}
