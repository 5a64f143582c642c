package io.mortise.it.support;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockException;
import java.time.Duration;

/**
 * Waits of a few milliseconds at most, which a machine that stands still may end in another way.
 */
public final class BriefWait {
  private BriefWait() {}

  /** The reply to the last command has 200 ms after the wait; the rest is for the clocks. */
  private static final Duration ROUND_TRIP = Duration.ofMillis(150);

  /**
   * Tries to lock. A wait whose last command has no reply in time does not know whether it has the
   * lock: that is a wait without the lock here, and is released in the background.
   */
  public static boolean tryLock(DistributedLock lock, Duration wait) throws InterruptedException {
    long start = System.nanoTime();
    try {
      return lock.tryLock(wait);
    } catch (LockException slow) {
      LateAnswer.tolerate(slow, start, wait.plus(ROUND_TRIP));
      return false;
    }
  }
}
