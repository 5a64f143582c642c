package io.mortise.benchmarks;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Each package uses only packages that do not use it. */
class PackageCyclesTest {
  @Test
  void noPackagesFormACycle() {
    JavaClasses classes =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.mortise.benchmarks");

    slices().matching("io.mortise.(**)").should().beFreeOfCycles().check(classes);
  }
}
