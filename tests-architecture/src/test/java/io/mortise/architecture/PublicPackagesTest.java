package io.mortise.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

/**
 * The packages that users see are marked for null checkers one by one: Kotlin's compiler reads the
 * mark of a package, not that of a module.
 */
class PublicPackagesTest {
  private static final Set<String> PACKAGES =
      Set.of(
          "io.mortise.core",
          "io.mortise.core.spi",
          "io.mortise.fairlock",
          "io.mortise.rwlock",
          "io.mortise.multilock",
          "io.mortise.redlock",
          "io.mortise.fencing",
          "io.mortise.testkit");

  @Test
  void areMarkedForNullCheckers() {
    List<String> unmarked =
        PACKAGES.stream()
            .filter(name -> !ProductClasses.ALL.getPackage(name).isAnnotatedWith(NullMarked.class))
            .sorted()
            .toList();

    assertEquals(List.of(), unmarked);
  }
}
