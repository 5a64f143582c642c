package io.mortise.connection.concurrent;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A sticky wake-up: a counter that goes up, and those who wait for it to be another than they saw.
 *
 * <pre>
 *   waiter                      subscriber
 *   seen = generation()
 *   attempt: busy
 *                               message: fire()          nothing is lost here,
 *   await(seen) returns at once                          because the counter has moved
 * </pre>
 */
public final class Signal {
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition moved = lock.newCondition();

  @GuardedBy("lock")
  private long generation;

  public long generation() {
    lock.lock();
    try {
      return generation;
    } finally {
      lock.unlock();
    }
  }

  /** Wakes all who wait, and who are about to. */
  public void fire() {
    lock.lock();
    try {
      generation++;
      moved.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until the counter is not {@code seen} any more, or the time is over.
   *
   * @throws InterruptedException if the thread is interrupted before or while it waits
   */
  public void await(long seen, long nanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = nanos;
      while (generation == seen && left > 0) {
        left = moved.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }
}
