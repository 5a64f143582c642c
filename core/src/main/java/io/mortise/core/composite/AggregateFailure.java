package io.mortise.core.composite;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Combines the failures of several members into one exception that names all of them: {@code fact |
 * fact; remedy}.
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
    LockException combined =
        new LockException(reason, "lock '" + lock + "': " + fact + ": " + all(failures), first);
    failures.subList(1, failures.size()).forEach(combined::addSuppressed);
    return combined;
  }

  /** Joins the messages; a remedy that several of them have stands once, behind all of them. */
  private static String all(List<? extends RuntimeException> failures) {
    List<String> messages =
        failures.stream().map(failure -> String.valueOf(failure.getMessage())).distinct().toList();
    List<String> remedies = messages.stream().map(AggregateFailure::remedyIn).toList();
    Set<String> shared =
        remedies.stream()
            .filter(remedy -> Collections.frequency(remedies, remedy) > 1)
            .collect(Collectors.toCollection(LinkedHashSet::new));
    return messages.stream()
        .map(message -> withoutRemedy(message, shared))
        .distinct()
        .collect(Collectors.joining(" | ", "", String.join("", shared)));
  }

  private static String withoutRemedy(String message, Set<String> shared) {
    String remedy = remedyIn(message);
    return shared.contains(remedy)
        ? message.substring(0, message.length() - remedy.length())
        : message;
  }

  /** Returns the remedy, which is behind the last semicolon, with that; empty without one. */
  private static String remedyIn(String message) {
    int semicolon = message.lastIndexOf("; ");
    return semicolon < 0 ? "" : message.substring(semicolon);
  }

  /** Returns whether another attempt may succeed. */
  public static boolean isTransient(RuntimeException failure) {
    return failure instanceof LockException fault && fault.reason().isTransient();
  }

  private static Reason reason(RuntimeException failure) {
    return failure instanceof LockException fault ? fault.reason() : Reason.SCRIPT;
  }
}
