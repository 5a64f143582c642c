package io.mortise.core.internal.lease;

import io.mortise.core.LeaseLoss.Reason;
import java.lang.reflect.Proxy;

/** A hold as its parts know it, for a test that calls them by themselves. */
final class FakeRegisteredHold {
  /** Ends the hold as lost; see {@link RegisteredHold#lose}. */
  @FunctionalInterface
  interface Losing {
    boolean lose(Reason reason, long atNanos, String detail);
  }

  private FakeRegisteredHold() {}

  /** Returns a hold that is in no scheduler, and can only be lost. */
  static RegisteredHold of(Losing losing) {
    return (RegisteredHold)
        Proxy.newProxyInstance(
            RegisteredHold.class.getClassLoader(),
            new Class<?>[] {RegisteredHold.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "lose" ->
                      losing.lose(
                          (Reason) arguments[0], (Long) arguments[1], (String) arguments[2]);
                  case "hashCode" -> System.identityHashCode(proxy);
                  case "equals" -> proxy == arguments[0];
                  case "dueNanos" -> Long.MAX_VALUE / 2;
                  default -> throw new AssertionError(method);
                });
  }
}
