package io.mortise.it.support;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.time.Duration;

/**
 * Waits of a few milliseconds at most, which a machine that stands still may end in another way.
 */
public final class BriefWait {
  private BriefWait() {}

  /**
   * Tries to lock. A wait that is over when the reply to its last command comes does not know
   * whether it has the lock: that is a wait without the lock here, and is released in the
   * background.
   */
  public static boolean tryLock(DistributedLock lock, Duration wait) throws InterruptedException {
    try {
      return lock.tryLock(wait);
    } catch (LockException slow) {
      if (slow.reason() != Reason.UNREACHABLE) {
        throw slow;
      }
      return false;
    }
  }
}
