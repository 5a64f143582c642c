package io.mortise.it.chaos;

import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The present task of the threads of a client process, and the number of threads that work on it.
 *
 * <p><b>Threads.</b> Any thread may call any method; all fields are guarded by one lock. A method
 * that throws an {@link OutOfMemoryError} has changed nothing, and {@link #done} throws none.
 */
final class CurrentTask {
  /**
   * A lock to contend for.
   *
   * @param name of the lock
   */
  record Task(String name, ThinkTime thinkTime) {}

  private static final long DONE_AGAIN_NANOS = 20_000;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private @Nullable Task task; // guarded by lock
  private boolean stopped; // guarded by lock
  private int busy; // guarded by lock

  void set(Task next) {
    change(() -> task = next);
  }

  /** Removes the task; returns when no thread works on it any more. */
  void clear() throws InterruptedException {
    change(() -> task = null);
    lock.lockInterruptibly();
    try {
      while (busy > 0) {
        changed.await();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Ends all threads. */
  void stop() {
    change(() -> stopped = true);
  }

  /**
   * Waits for a task, and counts the caller as busy until {@link #done()}.
   *
   * @return empty after {@link #stop()}
   */
  Optional<Task> next() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (task == null && !stopped) {
        changed.await();
      }
      if (stopped) {
        return Optional.empty();
      }
      Optional<Task> given = Optional.ofNullable(task);
      busy++;
      return given;
    } finally {
      lock.unlock();
    }
  }

  /** Counts the caller as idle, also while the heap is full. */
  void done() {
    while (!lock.tryLock()) {
      LockSupport.parkNanos(DONE_AGAIN_NANOS); // lock() may need memory
    }
    try {
      busy--;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** Waits for that time, or until {@link #stop()}. */
  void pause(long nanos) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long left = nanos;
      while (left > 0 && !stopped) {
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  private void change(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
