package io.mortise.core.internal;

import org.jspecify.annotations.Nullable;

/**
 * How long the borrowing thread may spend on connecting. The pool makes connections on the thread
 * that asks for one, through a factory that takes no argument; this is that argument.
 */
final class ConnectBudget {
  private static final ThreadLocal<@Nullable Integer> MILLIS = new ThreadLocal<>();

  private ConnectBudget() {}

  static void set(int millis) {
    MILLIS.set(millis);
  }

  static void clear() {
    MILLIS.remove();
  }

  static int orElse(int most) {
    Integer budget = MILLIS.get();
    return budget == null ? most : Math.min(most, budget);
  }
}
