package io.mortise.core.composite;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Combines the failures of several members into one exception that names all of them.
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
    String all =
        failures.stream()
            .map(failure -> String.valueOf(failure.getMessage()))
            .distinct()
            .collect(Collectors.joining("; "));
    RuntimeException first = failures.get(0);
    LockException combined =
        new LockException(reason, "lock '" + lock + "': " + fact + ": " + all, first);
    failures.subList(1, failures.size()).forEach(combined::addSuppressed);
    return combined;
  }

  /** Returns whether another attempt may succeed. */
  public static boolean isTransient(RuntimeException failure) {
    return failure instanceof LockException fault && fault.reason().isTransient();
  }

  private static Reason reason(RuntimeException failure) {
    return failure instanceof LockException fault ? fault.reason() : Reason.SCRIPT;
  }
}
