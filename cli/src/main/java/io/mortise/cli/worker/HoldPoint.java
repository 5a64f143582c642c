package io.mortise.cli.worker;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;

/** The one stay inside a critical section that a process makes on demand, or waits for outside. */
final class HoldPoint {
  private final AtomicBoolean begun = new AtomicBoolean();
  private final CountDownLatch ended = new CountDownLatch(1);

  /** True for the first that asks. */
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
