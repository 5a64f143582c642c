package io.mortise.spring.boot.internal;

import io.mortise.core.Lease;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The leases of the methods that a thread runs, innermost first.
 *
 * <p><b>Threads.</b> Each thread has its own.
 */
public final class LeaseStack {
  private static final ThreadLocal<@Nullable Deque<Lease>> LEASES = new ThreadLocal<>();

  private LeaseStack() {}

  /** Returns the lease of the innermost method, if there is one. */
  public static Optional<Lease> current() {
    return Optional.ofNullable(LEASES.get()).map(Deque::peek);
  }

  /** Adds the lease of a method that begins. */
  public static void push(Lease lease) {
    Deque<Lease> leases = LEASES.get();
    if (leases == null) {
      leases = new ArrayDeque<>(2);
      LEASES.set(leases);
    }
    leases.push(lease);
  }

  /** Removes the lease of the innermost method, which ends. */
  public static void pop() {
    Deque<Lease> leases = LEASES.get();
    if (leases != null) {
      leases.pop();
      if (leases.isEmpty()) {
        LEASES.remove(); // pools keep their threads
      }
    }
  }
}
