package io.mortise.it.support;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Waits of a few milliseconds at most, which a machine that stands still may end in another way.
 */
public final class BriefWait {
  /** The reply to the last command has 200 ms after the wait; the rest is for the clocks. */
  private static final Duration ROUND_TRIP = Duration.ofMillis(150);

  /** A thread reports the missing reply of the thread before it for a second at most. */
  private static final Duration OUTAGE = Duration.ofMillis(1_500);

  /** When the calls that are under way began. */
  private static final Map<Thread, Long> STARTS = new ConcurrentHashMap<>();

  /** When a call last ended without its reply. */
  private static volatile long lateNanos = System.nanoTime() - OUTAGE.toNanos();

  private BriefWait() {}

  /**
   * Tries to lock. A wait whose last command has no reply in time does not know whether it has the
   * lock: that is a wait without the lock here, and is released in the background. So does a wait
   * that has ended behind such a one in the queue of its process.
   */
  public static boolean tryLock(DistributedLock lock, Duration wait) throws InterruptedException {
    long start = System.nanoTime();
    STARTS.put(Thread.currentThread(), start);
    try {
      return lock.tryLock(wait);
    } catch (LockException slow) {
      STARTS.remove(Thread.currentThread());
      if (slow.reason() != Reason.UNREACHABLE || !isLateElsewhere()) {
        LateAnswer.tolerate(slow, start, wait.plus(ROUND_TRIP));
      }
      if (System.nanoTime() - start >= ROUND_TRIP.toNanos()) {
        lateNanos = System.nanoTime();
      }
      return false;
    } finally {
      STARTS.remove(Thread.currentThread());
    }
  }

  /** Returns whether another call has no reply in time, or had none a moment ago. */
  private static boolean isLateElsewhere() {
    long now = System.nanoTime();
    return now - lateNanos < OUTAGE.toNanos()
        || STARTS.values().stream().anyMatch(start -> now - start >= ROUND_TRIP.toNanos());
  }
}
