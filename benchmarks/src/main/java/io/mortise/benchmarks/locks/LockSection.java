package io.mortise.benchmarks.locks;

import java.util.concurrent.locks.Lock;

/** A section guarded by a {@link Lock}. */
record LockSection(Lock lock) implements Section {
  @Override
  @SuppressWarnings("LockNotBeforeTry") // leave() is the other half
  public void enter() {
    lock.lock();
  }

  @Override
  public void leave() {
    lock.unlock();
  }
}
