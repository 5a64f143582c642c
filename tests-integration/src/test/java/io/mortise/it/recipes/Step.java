package io.mortise.it.recipes;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** A step of one thread, for which another one waits. */
final class Step {
  private static final long LIMIT_SECONDS = 20;

  private final CountDownLatch done = new CountDownLatch(1);

  void done() {
    done.countDown();
  }

  /** Returns code that takes this step, and waits for the next one. */
  Runnable before(Step next) {
    return () -> {
      done();
      next.await();
    };
  }

  void await() {
    try {
      assertTrue(
          done.await(LIMIT_SECONDS, TimeUnit.SECONDS), "the other thread does not get there");
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
