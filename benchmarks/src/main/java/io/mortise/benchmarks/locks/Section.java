package io.mortise.benchmarks.locks;

/**
 * A critical section, as one thread enters and leaves it.
 *
 * <p><b>Threads.</b> One thread at a time.
 */
public interface Section {

  /** Waits until the calling thread is inside. */
  void enter();

  /** Leaves. */
  void leave();
}
