package io.mortise.it.chaos;

import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** What the threads of a client process are to do at present, and how many of them do it. */
final class CurrentTask {
  /**
   * What they contend for.
   *
   * @param name of the lock
   */
  record Task(String name, ThinkTime pace) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private @Nullable Task task; // guarded by lock
  private boolean stopped; // guarded by lock
  private int busy; // guarded by lock

  /** From now on this. */
  void post(Task next) {
    change(() -> task = next);
  }

  /** From now on nothing; returns when everybody is out of the section. */
  void rest() throws InterruptedException {
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

  /** No more. */
  void stop() {
    change(() -> stopped = true);
  }

  /**
   * Waits for something to do, and counts the caller as busy until {@link #done()}.
   *
   * @return empty when there will be nothing more
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
      busy++;
      return Optional.ofNullable(task);
    } finally {
      lock.unlock();
    }
  }

  void done() {
    change(() -> busy--);
  }

  /** Passes that time, unless nothing is to be done any more. */
  void linger(long nanos) throws InterruptedException {
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

  private void change(Runnable how) {
    lock.lock();
    try {
      how.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
