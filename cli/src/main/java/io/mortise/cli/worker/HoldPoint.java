package io.mortise.cli.worker;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The point inside the critical section at which one thread of a process stays until the demo lets
 * it proceed; other threads may wait for the same moment outside.
 *
 * <p><b>Threads.</b> Any thread; an atomic flag chooses the one that stays.
 */
final class HoldPoint {
  private final AtomicBoolean begun = new AtomicBoolean();
  private final CountDownLatch ended = new CountDownLatch(1);

  /** Returns true for the first caller. */
  boolean begin() {
    return begun.compareAndSet(false, true);
  }

  void end() {
    ended.countDown();
  }

  void awaitEnd() throws InterruptedException {
    ended.await();
  }
}
