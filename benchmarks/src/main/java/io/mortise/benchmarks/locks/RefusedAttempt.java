package io.mortise.benchmarks.locks;

import java.util.concurrent.locks.Lock;

/** An attempt at a lock that others hold. There is nothing to leave. */
record RefusedAttempt(Lock lock) implements Section {
  @Override
  public void enter() {
    if (lock.tryLock()) {
      lock.unlock();
      throw new IllegalStateException("an attempt was granted that others were to refuse");
    }
  }

  @Override
  public void leave() {}
}
