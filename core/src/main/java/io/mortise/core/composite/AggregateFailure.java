package io.mortise.core.composite;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Combines the failures of several members into one exception that names all of them. A remedy that
 * all have stands once, at the end: {@code fact | fact; remedy}.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
public final class AggregateFailure {
  private AggregateFailure() {}

  /**
   * Returns one exception for several failures.
   *
   * @param failures at least one; the first decides on the reason and is the cause, the others are
   *     suppressed
   */
  public static LockException of(
      String lock, String fact, List<? extends RuntimeException> failures) {
    return of(reason(failures.get(0)), lock, fact, failures);
  }

  /** As {@link #of(String, String, List)}, with another reason than that of the first failure. */
  static LockException of(
      Reason reason, String lock, String fact, List<? extends RuntimeException> failures) {
    RuntimeException first = failures.get(0);
    String remedy = sharedRemedy(failures).orElse(null);
    String all =
        failures.stream()
            .map(failure -> messageWithout(remedy, failure))
            .distinct()
            .collect(Collectors.joining(" | "));
    LockException combined =
        new LockException(reason, "lock '" + lock + "': " + fact + ": " + all, remedy, first);
    failures.subList(1, failures.size()).forEach(combined::addSuppressed);
    return combined;
  }

  /** Returns the remedy of all of them; empty if they have different ones, or one has none. */
  private static Optional<String> sharedRemedy(List<? extends RuntimeException> failures) {
    List<Optional<String>> remedies =
        failures.stream().map(AggregateFailure::remedyOf).distinct().toList();
    return remedies.size() == 1 ? remedies.get(0) : Optional.empty();
  }

  private static Optional<String> remedyOf(RuntimeException failure) {
    return failure instanceof LockException fault ? fault.remedy() : Optional.empty();
  }

  private static String messageWithout(@Nullable String remedy, RuntimeException failure) {
    String message = String.valueOf(failure.getMessage());
    return remedy == null
        ? message
        : message.substring(0, message.length() - ("; " + remedy).length());
  }

  /** Returns whether another attempt may succeed. */
  public static boolean isTransient(RuntimeException failure) {
    return failure instanceof LockException fault && fault.reason().isTransient();
  }

  private static Reason reason(RuntimeException failure) {
    return failure instanceof LockException fault ? fault.reason() : Reason.SCRIPT;
  }
}
