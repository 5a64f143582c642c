package io.mortise.core.internal.lease;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.connection.concurrent.UnfailingLock;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.internal.event.FlightRecording;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notifies the listeners of one lease of its changes, in order, on a worker thread: never on the
 * scheduler's thread and never under a lock. A listener that blocks delays only the other listeners
 * of the same lease. When the workers have ended, because the client was closed, the thread that
 * makes the change notifies: a loss is never kept back.
 *
 * <p><b>A full heap.</b> Whatever a notification needs is made before the change, so that an {@code
 * OutOfMemoryError} leaves everything as it was. After the change only a worker may be missing.
 * Then the notifications stay pending, and {@link #deliver} tries again, which needs no memory
 * itself: at the next change, and after a loss whenever the scheduler looks at the lost hold.
 *
 * <p><b>Threads.</b> Any thread may call any method. {@code lock} guards the listeners and the
 * pending notifications. At most one thread at a time ({@code notifying}) runs the pending
 * notifications, so they keep their order. A listener that is added after the loss is notified by
 * the thread that adds it. Dependents are notified apart from them, because a user's listener that
 * blocks must not delay them.
 */
final class LeaseListeners {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseListeners.class);

  private final Consumer<Runnable> worker;
  private final String lockName;
  private final boolean logsLoss;
  private final ReentrantLock lock = new UnfailingLock();

  @GuardedBy("lock")
  private final List<Consumer<LeaseLoss>> onLost = new ArrayList<>(0);

  @GuardedBy("lock")
  private final List<Consumer<State>> onChange = new ArrayList<>(0);

  @GuardedBy("lock")
  private final List<Dependent> dependents = new ArrayList<>(0);

  @GuardedBy("lock")
  private final Deque<Runnable> pending = new ArrayDeque<>(1);

  @GuardedBy("lock")
  private final Deque<Runnable> pendingOfDependents = new ArrayDeque<>(1);

  // Made once: to try again needs no memory.
  private final Runnable notifyPending = this::notifyPending;
  private final Runnable notifyDependents = this::notifyDependents;

  @GuardedBy("lock")
  private boolean notifying;

  @GuardedBy("lock")
  private @Nullable LeaseLoss loss;

  /**
   * A composite hold that depends on this one. Compared by identity: two of them may have equal
   * fields.
   */
  private static final class Dependent {
    final Consumer<State> listener;
    final boolean logs;

    Dependent(Consumer<State> listener, boolean logs) {
      this.listener = listener;
      this.logs = logs;
    }
  }

  /**
   * @param worker runs a task soon, on another thread; throws a {@link RejectedExecutionException}
   *     when its threads have ended
   * @param lockName for the log
   * @param logsLoss whether to warn of a loss; false when the loss is that of another hold
   */
  LeaseListeners(Consumer<Runnable> worker, String lockName, boolean logsLoss) {
    this.worker = worker;
    this.lockName = lockName;
    this.logsLoss = logsLoss;
  }

  /** See {@link io.mortise.core.Lease#onLost}. */
  void onLost(Consumer<LeaseLoss> listener) {
    LeaseLoss earlierLoss;
    lock.lock();
    try {
      earlierLoss = loss;
      if (earlierLoss == null) {
        onLost.add(listener);
      }
    } finally {
      lock.unlock();
    }
    if (earlierLoss != null) {
      notifyListener(listener, earlierLoss);
    }
  }

  /** See {@link io.mortise.core.Lease#onStateChange}. */
  void onStateChange(Consumer<State> listener) {
    lock.lock();
    try {
      onChange.add(listener);
    } finally {
      lock.unlock();
    }
  }

  /** See {@link io.mortise.core.spi.OwnedLease#onChangeWhileHeld}. */
  Runnable onChangeWhileHeld(Consumer<State> listener, boolean logs) {
    Dependent dependent = new Dependent(listener, logs);
    lock.lock();
    try {
      dependents.add(dependent);
    } finally {
      lock.unlock();
    }
    return () -> remove(dependent);
  }

  private void remove(Dependent dependent) {
    lock.lock();
    try {
      dependents.remove(dependent);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Makes a change and queues its notifications in one step, so that listeners are notified in the
   * order of the changes.
   *
   * @param change makes the change; returns false if there was none
   * @param newLoss the loss, with {@link State#LOST}
   * @return the result of {@code change}
   */
  boolean changeAndNotify(BooleanSupplier change, State state, @Nullable LeaseLoss newLoss) {
    lock.lock();
    try {
      int before = pending.size();
      int beforeOfDependents = pendingOfDependents.size();
      boolean changed = false;
      try {
        prepare(state, newLoss);
        changed = change.getAsBoolean();
      } finally {
        while (!changed && pending.size() > before) {
          pending.removeLast();
        }
        while (!changed && pendingOfDependents.size() > beforeOfDependents) {
          pendingOfDependents.removeLast();
        }
      }
      if (!changed) {
        return false;
      }
      if (newLoss != null) {
        loss = newLoss;
        onLost.clear();
      }
    } finally {
      lock.unlock();
    }
    var unused = deliver();
    return true;
  }

  /** Queues the notifications. */
  @GuardedBy("lock")
  private void prepare(State state, @Nullable LeaseLoss newLoss) {
    if (state != State.RELEASED && !dependents.isEmpty()) {
      List<Dependent> notified = List.copyOf(dependents);
      pendingOfDependents.add(
          () -> notified.forEach(dependent -> notifyListener(dependent.listener, state)));
    }
    for (Consumer<State> listener : onChange) {
      pending.add(() -> notifyListener(listener, state));
    }
    if (newLoss != null) {
      for (Consumer<LeaseLoss> listener : onLost) {
        pending.add(() -> notifyListener(listener, newLoss));
      }
      boolean warns = logsLoss && dependents.stream().noneMatch(dependent -> dependent.logs);
      pending.add(
          () -> notifyListener(lost -> log(lost, warns), newLoss)); // last, because a log may block
    }
  }

  /** Logs and records one warning for one loss: that of the outermost hold that it ends. */
  private void log(LeaseLoss loss, boolean warns) {
    String message = "lock '{}': the lease with fencing token {} is lost: {}";
    if (warns) {
      LOG.warn(message, lockName, loss.fencingToken(), loss.detail());
      FlightRecording.lost(loss);
    } else {
      LOG.debug(message, lockName, loss.fencingToken(), loss.detail());
    }
  }

  /** Has what is pending notified on workers; returns whether nothing was. Does not throw. */
  boolean deliver() {
    boolean ofDependents;
    boolean any;
    boolean starts;
    lock.lock();
    try {
      ofDependents = !pendingOfDependents.isEmpty();
      any = !pending.isEmpty();
      starts = any && !notifying;
      notifying |= starts;
    } finally {
      lock.unlock();
    }
    if (ofDependents) {
      var unused = runAsync(notifyDependents);
    }
    if (starts && !runAsync(notifyPending)) {
      lock.lock();
      try {
        notifying = false;
      } finally {
        lock.unlock();
      }
    }
    return !any && !ofDependents;
  }

  /** Runs a task on a worker; returns false if no worker can be started. */
  private boolean runAsync(Runnable task) {
    try {
      worker.accept(task);
      return true;
    } catch (RejectedExecutionException closed) {
      task.run(); // the workers have ended
      return true;
    } catch (RuntimeException | Error failed) {
      logFailure("lock '{}': its listeners could not be notified yet", failed);
      return false;
    }
  }

  private void notifyPending() {
    runPending(false);
  }

  private void notifyDependents() {
    runPending(true);
  }

  private void runPending(boolean ofDependents) {
    while (true) {
      Runnable next;
      lock.lock();
      try {
        next = (ofDependents ? pendingOfDependents : pending).poll();
        if (next == null) {
          notifying &= ofDependents; // the flag is not for those of dependents
          return;
        }
      } finally {
        lock.unlock();
      }
      next.run();
    }
  }

  private <T> void notifyListener(Consumer<T> listener, T event) {
    try {
      listener.accept(event);
    } catch (Throwable e) { // an AssertionError too: the other listeners are notified in any case
      logFailure("lock '{}': a listener failed", e);
    }
  }

  private void logFailure(String message, Throwable thrown) {
    try {
      LOG.error(message, lockName, thrown);
    } catch (Throwable noLog) {
      // There is no memory even for a message.
    }
  }
}
