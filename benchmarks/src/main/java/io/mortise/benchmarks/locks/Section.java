package io.mortise.benchmarks.locks;

/** A critical section as one thread enters and leaves it. Used by one thread at a time. */
public interface Section extends AutoCloseable {

  /** Waits until the calling thread is in. */
  void enter();

  /** Leaves. */
  void leave();

  @Override
  default void close() {}
}
