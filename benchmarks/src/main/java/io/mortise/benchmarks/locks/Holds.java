package io.mortise.benchmarks.locks;

/** Locks that one client holds and renews. */
public interface Holds {

  /** Acquires that many locks, with names that begin with the prefix. */
  void take(String prefix, int count);

  /** Returns a section of one more lock of the same client: plain, or for reading. */
  Section section(MeasuredLock kind, String name);

  /** Returns how many of them it has lost. */
  int lost();
}
