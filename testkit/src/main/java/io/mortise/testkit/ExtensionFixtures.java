package io.mortise.testkit;

import java.util.Objects;
import java.util.function.Supplier;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The servers of an extension for a test or a class; JUnit closes them with it.
 *
 * <p><b>Threads.</b> Any thread may call it; JUnit's store makes each fixture once.
 */
final class ExtensionFixtures {
  private final ExtensionContext.Namespace namespace;

  ExtensionFixtures(Class<?> extension) {
    namespace = ExtensionContext.Namespace.create(extension);
  }

  /** Returns the fixture of a type, which is made when the first caller asks for it. */
  @SuppressWarnings("deprecation") // JUnit 5 has no computeIfAbsent
  <T extends AutoCloseable> T get(ExtensionContext context, Class<T> type, Supplier<T> factory) {
    return Objects.requireNonNull(
        context.getStore(namespace).getOrComputeIfAbsent(type, ignored -> factory.get(), type));
  }
}
