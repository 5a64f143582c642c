package io.mortise.it.support;

/** The duration of a call. */
public final class Elapsed {
  private Elapsed() {}

  /** Does the work, and returns how long it took, in ms. */
  public static long millisOf(TestThreads.Work work) throws Exception {
    long start = System.nanoTime();
    work.run();
    return (System.nanoTime() - start) / 1_000_000;
  }
}
