package io.mortise.architecture;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

/** The classes of the product and of the test kit, without their tests. */
final class ProductClasses {
  static final String ROOT = "io.mortise.";

  static final JavaClasses ALL =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .withImportOption(location -> !location.contains("/test-classes/"))
          .withImportOption(location -> !location.contains("-tests.jar"))
          .importPackages("io.mortise");

  private ProductClasses() {}

  /** Returns the name of the source file's class, without the root of all packages. */
  static String file(JavaClass type) {
    JavaClass outermost = type;
    while (outermost.getEnclosingClass().isPresent()) {
      outermost = outermost.getEnclosingClass().get();
    }
    return outermost.getName().substring(ROOT.length());
  }
}
