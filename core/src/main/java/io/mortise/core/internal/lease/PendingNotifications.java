package io.mortise.core.internal.lease;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The notifications of one lease that no listener has received yet: those of its listeners, in the
 * order of the changes, and apart from them those of composite holds that depend on it.
 *
 * <p><b>Threads.</b> The lock of {@link LeaseListeners} guards the queues. Any thread may call
 * {@link #deliver}, without the lock. At most one worker at a time runs the notifications of
 * listeners ({@code notifying}), and one those of dependents.
 */
final class PendingNotifications {
  private static final Logger LOG = LoggerFactory.getLogger(PendingNotifications.class);

  private final ReentrantLock lock;
  private final NotificationWorkers workers;
  private final String lockName;

  // No ArrayDeque: one that cannot grow, because memory is exhausted, loses what it has.

  @GuardedBy("lock")
  private final List<Runnable> ofListeners = new ArrayList<>(1);

  @GuardedBy("lock")
  private final List<Runnable> ofDependents = new ArrayList<>(1);

  // Made once: to try again needs no memory.
  private final Runnable notifyListeners = this::runOfListeners;
  private final Runnable notifyDependents = this::runOfDependents;

  /** Whether code of the user is among the notifications; a loss, the last change, adds a log. */
  @GuardedBy("lock")
  private boolean ofUser;

  @GuardedBy("lock")
  private boolean notifying;

  @GuardedBy("lock")
  private boolean notifyingDependents;

  PendingNotifications(ReentrantLock lock, NotificationWorkers workers, String lockName) {
    this.lock = lock;
    this.workers = workers;
    this.lockName = lockName;
  }

  /**
   * Adds notifications of a change, unless there is none.
   *
   * @param change makes the change; returns false if there was none
   * @param additions adds them, before the change: it may need memory
   * @return the result of {@code change}
   */
  @GuardedBy("lock")
  boolean addIf(BooleanSupplier change, Runnable additions) {
    int before = ofListeners.size();
    int beforeOfDependents = ofDependents.size();
    boolean changed = false;
    try {
      additions.run();
      changed = change.getAsBoolean();
      return changed;
    } finally {
      while (!changed && ofListeners.size() > before) {
        ofListeners.remove(ofListeners.size() - 1);
      }
      while (!changed && ofDependents.size() > beforeOfDependents) {
        ofDependents.remove(ofDependents.size() - 1);
      }
    }
  }

  @GuardedBy("lock")
  void add(Runnable notification) {
    ofListeners.add(notification);
    ofUser = true;
  }

  /** Adds a line of the log, behind the listeners. */
  @GuardedBy("lock")
  void addLog(Runnable line) {
    ofListeners.add(line);
  }

  @GuardedBy("lock")
  void addForDependents(Runnable notification) {
    ofDependents.add(notification);
  }

  /** Has what is pending notified on workers; returns whether nothing was. Does not throw. */
  boolean deliver() {
    boolean none;
    boolean startsDependents;
    boolean starts;
    Executor worker;
    lock.lock();
    try {
      none = ofDependents.isEmpty() && ofListeners.isEmpty();
      startsDependents = !ofDependents.isEmpty() && !notifyingDependents;
      starts = !ofListeners.isEmpty() && !notifying;
      notifyingDependents |= startsDependents;
      notifying |= starts;
      worker = ofUser ? workers.listeners() : workers.logs();
    } finally {
      lock.unlock();
    }
    if (startsDependents && !runAsync(notifyDependents, workers.dependents())) {
      endDependents();
    }
    if (starts && !runAsync(notifyListeners, worker)) {
      lock.lock();
      try {
        notifying = false;
      } finally {
        lock.unlock();
      }
    }
    return none;
  }

  /** Returns whether notifications are pending that no worker makes now. */
  boolean lacksWorker() {
    lock.lock();
    try {
      return (!ofDependents.isEmpty() && !notifyingDependents)
          || (!ofListeners.isEmpty() && !notifying);
    } finally {
      lock.unlock();
    }
  }

  /** Runs a task on a worker; returns false if no worker can be started. */
  private boolean runAsync(Runnable task, Executor worker) {
    try {
      worker.execute(task);
      return true;
    } catch (RejectedExecutionException closed) { // the workers have ended
      return runHere(task);
    } catch (RuntimeException | Error failed) {
      logNotYet(failed);
      return false;
    }
  }

  private boolean runHere(Runnable task) {
    try {
      task.run();
      return true;
    } catch (RuntimeException | Error failed) {
      logNotYet(failed);
      return false;
    }
  }

  private void logNotYet(Throwable failed) {
    logFailure(lockName, "lock '{}': its listeners could not be notified yet", failed);
  }

  private void runOfListeners() {
    while (true) {
      Runnable next;
      lock.lock();
      try {
        if (ofListeners.isEmpty()) {
          notifying = false;
          return;
        }
        next = ofListeners.remove(0);
      } finally {
        lock.unlock();
      }
      next.run();
    }
  }

  /**
   * Notifies the dependents. A notification is removed after it was made, so that one that an error
   * has ended, such as an {@code OutOfMemoryError}, is made again by the next {@link #deliver}.
   */
  private void runOfDependents() {
    try {
      for (Runnable next = firstOrEnd(); next != null; next = firstOrEnd()) {
        next.run();
        removeFirstOfDependents();
      }
    } catch (Throwable e) {
      endDependents();
      throw e;
    }
  }

  /** Returns the first notification of dependents; without one this worker ends, in one step. */
  private @Nullable Runnable firstOrEnd() {
    lock.lock();
    try {
      notifyingDependents = !ofDependents.isEmpty();
      return notifyingDependents ? ofDependents.get(0) : null;
    } finally {
      lock.unlock();
    }
  }

  private void removeFirstOfDependents() {
    lock.lock();
    try {
      ofDependents.remove(0);
    } finally {
      lock.unlock();
    }
  }

  private void endDependents() {
    lock.lock();
    try {
      notifyingDependents = false;
    } finally {
      lock.unlock();
    }
  }

  /** Notifies one listener, which may throw anything. */
  static <T> void notifyListener(String lockName, Consumer<T> listener, T event) {
    try {
      listener.accept(event);
    } catch (Throwable e) { // an AssertionError too: the other listeners are notified in any case
      logFailure(lockName, "lock '{}': a listener failed", e);
    }
  }

  /**
   * Notifies one dependent. Throws an error of the JVM, such as an {@code OutOfMemoryError}, and
   * what a dependent throws that could not notify its own listeners: then it is notified again.
   */
  static <T> void notifyDependent(String lockName, Consumer<T> dependent, T event) {
    try {
      dependent.accept(event);
    } catch (VirtualMachineError | UndeliveredException e) {
      throw e;
    } catch (Throwable e) {
      logFailure(lockName, "lock '{}': a composite hold could not be notified", e);
    }
  }

  private static void logFailure(String lockName, String message, Throwable thrown) {
    try {
      LOG.error(message, lockName, thrown);
    } catch (Throwable noLog) {
      // There is no memory even for a message.
    }
  }
}
