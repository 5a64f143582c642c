package io.mortise.core.composite;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.List;
import java.util.stream.Collectors;

/** What went wrong with several members, as one error that tells of all of them. */
public final class AggregateFailure {
  private AggregateFailure() {}

  /**
   * One error of several.
   *
   * @param failures at least one; the first decides on the reason and is the cause, the others are
   *     suppressed
   */
  public static LockException of(
      String lock, String fact, List<? extends RuntimeException> failures) {
    String all =
        failures.stream()
            .map(failure -> String.valueOf(failure.getMessage()))
            .distinct()
            .collect(Collectors.joining("; "));
    RuntimeException first = failures.get(0);
    LockException one =
        new LockException(reason(first), "lock '" + lock + "': " + fact + ": " + all, first);
    failures.subList(1, failures.size()).forEach(one::addSuppressed);
    return one;
  }

  /** Whether it is worth trying again. */
  public static boolean isTransient(RuntimeException failure) {
    return failure instanceof LockException fault && fault.reason().isTransient();
  }

  private static Reason reason(RuntimeException failure) {
    return failure instanceof LockException fault ? fault.reason() : Reason.SCRIPT;
  }
}
