package io.mortise.connection.concurrent;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * An event count: a counter that only rises, and a wait that ends when its value differs from the
 * one that the waiter saw. A wake-up between the look and the wait is not lost. (Reed and Kanodia,
 * <a href="https://dl.acm.org/doi/10.1145/359060.359076">Synchronization with Eventcounts and
 * Sequencers</a>.)
 *
 * <pre>
 *   waiter                      subscriber
 *   seen = generation()
 *   attempt: busy
 *                               message: fire()          nothing is lost here,
 *   await(seen) returns at once                          because the counter has moved
 * </pre>
 *
 * <p><b>Threads.</b> Any thread may call every method; {@code lock} guards the counter.
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

  /** Wakes all threads that wait, or are about to wait, for another value than the present one. */
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
   * Waits until the counter is no longer {@code seen}, or the time is over.
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
