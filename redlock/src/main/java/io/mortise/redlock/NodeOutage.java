package io.mortise.redlock;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/**
 * That a node could not be reached, or could not be used. A quorum goes on without it, so nobody
 * would know. Therefore an outage is logged once: at once if it does not pass by itself, as a wrong
 * password does not, and otherwise when it has lasted.
 *
 * <p><b>Threads.</b> Any. A node that is well costs its callers one volatile read and one write;
 * everything else is guarded by the lock.
 */
final class NodeOutage {
  /** A node that could not be reached is not asked again for so long. */
  static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /** A shorter one is not logged, if it passes by itself. */
  static final long LASTING_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** One that ends and begins again is not logged more often than this. */
  static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final LongSupplier clock;
  private final ReentrantLock lock = new ReentrantLock();

  /** Whether there is one. */
  private volatile boolean begun;

  private volatile long answeredNanos;

  // All guarded by lock.
  private long sinceNanos;
  private boolean unreachable;
  private long unreachableNanos;
  private boolean told;
  private long toldNanos;

  NodeOutage(LongSupplier clock) {
    this.clock = clock;
    this.answeredNanos = clock.getAsLong();
    this.toldNanos = answeredNanos - QUIET_NANOS;
  }

  /** When a question begins. */
  long begin() {
    return clock.getAsLong();
  }

  /**
   * Notes what went wrong; nothing if the node has answered others since.
   *
   * @return whether it is to be logged
   */
  boolean note(LockException failure, long begunNanos) {
    if (failure.reason() == Reason.CLIENT_CLOSED) {
      return false;
    }
    lock.lock();
    try {
      if (begunNanos - answeredNanos < 0) {
        return false;
      }
      long now = clock.getAsLong();
      if (!begun) {
        begun = true;
        sinceNanos = begunNanos;
      }
      if (failure.reason() == Reason.UNREACHABLE) {
        unreachable = true;
        unreachableNanos = now;
      }
      boolean tells =
          !told
              && now - toldNanos >= QUIET_NANOS
              && (now - sinceNanos >= LASTING_NANOS || !failure.reason().isTransient());
      if (tells) {
        told = true;
        toldNanos = now;
      }
      return tells;
    } finally {
      lock.unlock();
    }
  }

  /**
   * The node has answered.
   *
   * @return whether the end of an outage is to be logged
   */
  boolean isOver() {
    answeredNanos = clock.getAsLong();
    if (!begun) {
      return false;
    }
    lock.lock();
    try {
      boolean wasTold = told;
      begun = false;
      unreachable = false;
      told = false;
      return wasTold;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Whether the node could not be reached so lately that another attempt would hardly tell anything
   * new. When that time is over, one who asks this is let through, and the others wait for what
   * becomes of it.
   */
  boolean keepsOut() {
    if (!begun) {
      return false;
    }
    lock.lock();
    try {
      long now = clock.getAsLong();
      if (!unreachable || now - unreachableNanos < PAUSE_NANOS) {
        return unreachable;
      }
      unreachableNanos = now;
      return false;
    } finally {
      lock.unlock();
    }
  }
}
