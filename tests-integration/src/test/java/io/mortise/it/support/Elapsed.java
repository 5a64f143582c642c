package io.mortise.it.support;

import java.util.concurrent.Callable;

/** The duration of a call. */
public final class Elapsed {
  private Elapsed() {}

  /** Calls, and returns how long the call took, in ms. */
  public static long millisOf(Callable<?> call) throws Exception {
    long start = System.nanoTime();
    call.call();
    return (System.nanoTime() - start) / 1_000_000;
  }
}
