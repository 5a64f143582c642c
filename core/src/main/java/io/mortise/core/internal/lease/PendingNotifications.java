package io.mortise.core.internal.lease;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The notifications of one lease that no listener has received yet: those of its listeners, in the
 * order of the changes, and apart from them those of composite holds that depend on it.
 *
 * <p><b>Threads.</b> The monitor of {@link LeaseListeners} guards the queues. Any thread may call
 * {@link #deliver}, outside of it. At most one worker at a time makes the notifications of each
 * queue.
 */
final class PendingNotifications {
  private static final Logger LOG = LoggerFactory.getLogger(PendingNotifications.class);

  private final Object lock;
  private final NotificationWorkers workers;
  private final String lockName;
  private final Pending ofListeners = new Pending(false);
  private final Pending ofDependents = new Pending(true);

  /** Whether code of the user is among the notifications; a loss, the last change, adds a log. */
  @GuardedBy("lock")
  private boolean ofUser;

  /**
   * @param lock the object whose monitor guards the queues
   */
  PendingNotifications(Object lock, NotificationWorkers workers, String lockName) {
    this.lock = lock;
    this.workers = workers;
    this.lockName = lockName;
  }

  /** A queue of notifications. Its fields are guarded by the lock. */
  private final class Pending {
    private final boolean repeated;

    // No ArrayDeque: one that cannot grow, because memory is exhausted, loses what it has.
    private final List<Runnable> queue = new ArrayList<>(1);

    /** Made once: to try again needs no memory. */
    private final Runnable work = this::makeAll;

    /** Whether a worker makes them. */
    private boolean running;

    /**
     * @param repeated whether a notification that an error has ended, such as an {@code
     *     OutOfMemoryError}, is made again by the next {@link #deliver}
     */
    Pending(boolean repeated) {
      this.repeated = repeated;
    }

    boolean lacksWorker() {
      return !running && !queue.isEmpty();
    }

    /** Removes the last ones until that number is left. */
    void truncate(int size) {
      while (queue.size() > size) {
        queue.remove(queue.size() - 1);
      }
    }

    /** Has all made by a worker; later, if none can be started. */
    void start(Executor worker) {
      if (!runAsync(work, worker)) {
        end();
      }
    }

    private void makeAll() {
      try {
        for (Runnable next = firstOrEnd(); next != null; next = firstOrEnd()) {
          next.run();
          if (repeated) {
            removeFirst();
          }
        }
      } catch (Throwable e) {
        end();
        throw e;
      }
    }

    /** Returns the first notification; without one this worker ends, in one step. */
    private @Nullable Runnable firstOrEnd() {
      synchronized (lock) {
        running = !queue.isEmpty();
        return !running ? null : repeated ? queue.get(0) : queue.remove(0);
      }
    }

    private void removeFirst() {
      synchronized (lock) {
        queue.remove(0);
      }
    }

    private void end() {
      synchronized (lock) {
        running = false;
      }
    }
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
    int before = ofListeners.queue.size();
    int beforeOfDependents = ofDependents.queue.size();
    boolean changed = false;
    try {
      additions.run();
      changed = change.getAsBoolean();
      return changed;
    } finally {
      if (!changed) {
        ofListeners.truncate(before);
        ofDependents.truncate(beforeOfDependents);
      }
    }
  }

  @GuardedBy("lock")
  void add(Runnable notification) {
    ofListeners.queue.add(notification);
    ofUser = true;
  }

  /** Adds a line of the log, behind the listeners. */
  @GuardedBy("lock")
  void addLog(Runnable line) {
    ofListeners.queue.add(line);
  }

  @GuardedBy("lock")
  void addForDependents(Runnable notification) {
    ofDependents.queue.add(notification);
  }

  /** Has what is pending notified on workers; returns whether nothing was. Does not throw. */
  boolean deliver() {
    boolean none;
    boolean startsDependents;
    boolean starts;
    Executor worker;
    synchronized (lock) {
      none = ofDependents.queue.isEmpty() && ofListeners.queue.isEmpty();
      startsDependents = ofDependents.lacksWorker();
      starts = ofListeners.lacksWorker();
      ofDependents.running |= startsDependents;
      ofListeners.running |= starts;
      worker = ofUser ? workers.listeners() : workers.logs();
    }
    if (startsDependents) {
      ofDependents.start(workers.dependents());
    }
    if (starts) {
      ofListeners.start(worker);
    }
    return none;
  }

  /** Returns whether notifications are pending that no worker makes now. */
  boolean lacksWorker() {
    synchronized (lock) {
      return ofDependents.lacksWorker() || ofListeners.lacksWorker();
    }
  }

  /** Runs a task on a worker; returns false if no worker can be started. */
  private boolean runAsync(Runnable task, Executor worker) {
    try {
      try {
        worker.execute(task);
      } catch (RejectedExecutionException closed) { // the workers have ended
        task.run();
      }
      return true;
    } catch (RuntimeException | Error failed) {
      logFailure(lockName, "lock '{}': its listeners could not be notified yet", failed);
      return false;
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
