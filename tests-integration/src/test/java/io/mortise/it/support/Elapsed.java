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

  /** As {@link #millisOf}, without the time in which this process did not run. */
  public static long runningMillisOf(TestThreads.Work work) throws Exception {
    try (Pauses pauses = Pauses.record()) {
      long start = System.nanoTime();
      work.run();
      long end = System.nanoTime();
      return (end - start - pauses.nanosWithin(start, end)) / 1_000_000;
    }
  }
}
