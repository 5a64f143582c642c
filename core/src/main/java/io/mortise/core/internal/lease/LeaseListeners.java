package io.mortise.core.internal.lease;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.internal.event.FlightRecording;
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
 * Notifies the listeners of one lease of its changes, in order, on a worker thread: never on the
 * scheduler's thread and never under a lock. A listener that blocks delays only the other listeners
 * of the same lease. When the workers have ended, because the client was closed, the thread that
 * makes the change notifies: a loss is never kept back.
 *
 * <p><b>A full heap.</b> Whatever a notification needs is made before the change, so that an {@code
 * OutOfMemoryError} leaves everything as it was. After the change only a worker may be missing, or
 * what a dependent itself needs. Then the notifications stay pending, and {@link #deliver} tries
 * again, which needs no memory itself: at the next change, and after a loss whenever the scheduler
 * looks at the lost hold. A hold of holds is not in the scheduler: its members notify it again.
 *
 * <p><b>Threads.</b> Any thread may call any method. The monitor guards the listeners and the
 * pending notifications. At most one thread at a time makes those of the listeners, so they keep
 * their order. A listener that is added after the loss is notified by the thread that adds it. A
 * user's listener that blocks delays neither the dependents nor the log, and the log nobody else.
 */
final class LeaseListeners {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseListeners.class);

  private final String lockName;
  private final boolean logsLoss;
  private final Pending ofDependents;
  private final Pending ofListeners;
  private final Pending ofLog;

  // A change makes a new list: most holds have none of these listeners, and many holds are kept.

  @GuardedBy("this")
  private List<Consumer<LeaseLoss>> onLost = List.of();

  @GuardedBy("this")
  private List<Consumer<State>> onChange = List.of();

  @GuardedBy("this")
  private List<Dependent> dependents = List.of();

  @GuardedBy("this")
  private @Nullable LeaseLoss loss;

  /** A composite hold that depends on this one; compared by identity. */
  private record Dependent(Consumer<State> listener, boolean logs) {}

  /** Notifications that have not been made yet, in order. The monitor guards its fields. */
  private final class Pending implements Runnable {
    private final Executor worker;
    private final boolean repeated;

    /** A change does not add to it, but replaces it. */
    private List<Runnable> queue = List.of();

    /** Whether a worker makes them. */
    private boolean running;

    /**
     * @param repeated whether a notification that an error has ended, such as an {@code
     *     OutOfMemoryError}, is made again by the next {@link #deliver}
     */
    Pending(Executor worker, boolean repeated) {
      this.worker = worker;
      this.repeated = repeated;
    }

    boolean lacksWorker() {
      return !running && !queue.isEmpty();
    }

    /** Has all made by a worker, unless one does so; later, if none can be started. */
    void start() {
      synchronized (LeaseListeners.this) {
        if (!lacksWorker()) {
          return;
        }
        running = true;
      }
      try {
        try {
          worker.execute(this);
        } catch (RejectedExecutionException closed) { // the workers have ended
          run();
        }
      } catch (RuntimeException | Error failed) {
        end(failed);
      }
    }

    /** Makes all, until an error ends it. */
    @Override
    public void run() {
      try {
        for (Runnable next = firstOrEnd(); next != null; next = firstOrEnd()) {
          make(next);
          if (repeated) {
            removeFirst();
          }
        }
      } catch (Throwable e) {
        end(e);
      }
    }

    /** Returns the first notification; without one this worker ends, in one step. */
    private @Nullable Runnable firstOrEnd() {
      synchronized (LeaseListeners.this) {
        running = !queue.isEmpty();
        return !running ? null : repeated ? queue.get(0) : queue.remove(0);
      }
    }

    private void removeFirst() {
      synchronized (LeaseListeners.this) {
        queue.remove(0);
      }
    }

    private void end(Throwable failed) {
      synchronized (LeaseListeners.this) {
        running = false;
      }
      logFailure("lock '{}': its listeners could not be notified yet", failed);
    }

    /**
     * Makes one notification; the listener may throw anything. Throws only if it is made again:
     * after an error of the JVM, such as an {@code OutOfMemoryError}, and if a dependent could not
     * notify its own listeners.
     */
    void make(Runnable notification) {
      try {
        notification.run();
      } catch (Throwable e) { // an AssertionError too: the others are notified in any case
        if (repeated && (e instanceof VirtualMachineError || e instanceof UndeliveredException)) {
          throw e;
        }
        logFailure("lock '{}': a listener failed", e);
      }
    }
  }

  /**
   * @param workers run a task soon, on another thread
   * @param lockName for the log
   * @param logsLoss whether to warn of a loss; false when the loss is that of another hold
   */
  LeaseListeners(NotificationWorkers workers, String lockName, boolean logsLoss) {
    this.lockName = lockName;
    this.logsLoss = logsLoss;
    this.ofDependents = new Pending(workers.dependents(), true);
    this.ofListeners = new Pending(workers.listeners(), false);
    this.ofLog = new Pending(workers.logs(), false);
  }

  /** See {@link io.mortise.core.Lease#onLost}. */
  void onLost(Consumer<LeaseLoss> listener) {
    LeaseLoss earlierLoss;
    synchronized (this) {
      earlierLoss = loss;
      if (earlierLoss == null) {
        onLost = with(onLost, listener);
      }
    }
    if (earlierLoss != null) {
      ofListeners.make(() -> listener.accept(earlierLoss));
    }
  }

  /** See {@link io.mortise.core.Lease#onStateChange}. */
  synchronized void onStateChange(Consumer<State> listener) {
    onChange = with(onChange, listener);
  }

  /** See {@link io.mortise.core.spi.OwnedLease#onChangeWhileHeld}. */
  Runnable onChangeWhileHeld(Consumer<State> listener, boolean logs) {
    Dependent dependent = new Dependent(listener, logs);
    synchronized (this) {
      dependents = with(dependents, dependent);
    }
    return () -> remove(dependent);
  }

  @SuppressWarnings("ReferenceEquality") // one composite hold may be two dependents
  private synchronized void remove(Dependent dependent) {
    dependents = dependents.stream().filter(each -> each != dependent).toList();
  }

  private static <T> List<T> with(List<T> before, T added) {
    return ImmutableList.<T>builder().addAll(before).add(added).build();
  }

  /**
   * Makes a change and queues its notifications in one step, so that listeners are notified in the
   * order of the changes. Longer copies take the place of the queues after the change, by
   * assignments, which need neither memory nor stack.
   *
   * @param change makes the change; returns false if there was none
   * @param newLoss the loss, with {@link State#LOST}
   * @return the result of {@code change}
   */
  boolean changeAndNotify(BooleanSupplier change, State state, @Nullable LeaseLoss newLoss) {
    synchronized (this) {
      boolean changed =
          (newLoss != null || isHeardOf(state))
              ? queueAndChange(change, state, newLoss)
              : change.getAsBoolean();
      if (!changed) {
        return false;
      }
      if (newLoss != null) {
        loss = newLoss;
        onLost = List.of();
      }
    }
    var unused = deliver();
    return true;
  }

  /** Returns whether a listener is notified of a change that is no loss. */
  @GuardedBy("this")
  private boolean isHeardOf(State state) {
    return !onChange.isEmpty() || (state != State.RELEASED && !dependents.isEmpty());
  }

  @GuardedBy("this")
  private boolean queueAndChange(BooleanSupplier change, State state, @Nullable LeaseLoss newLoss) {
    List<Runnable> toDependents = new ArrayList<>(ofDependents.queue);
    List<Runnable> toListeners = new ArrayList<>(ofListeners.queue);
    List<Runnable> toLog = new ArrayList<>(ofLog.queue);
    if (state != State.RELEASED) {
      dependents.forEach(each -> toDependents.add(() -> each.listener.accept(state)));
    }
    onChange.forEach(each -> toListeners.add(() -> each.accept(state)));
    if (newLoss != null) {
      onLost.forEach(each -> toListeners.add(() -> each.accept(newLoss)));
      boolean warns = logsLoss && dependents.stream().noneMatch(each -> each.logs);
      toLog.add(() -> log(newLoss, warns));
    }
    if (!change.getAsBoolean()) {
      return false;
    }
    ofDependents.queue = toDependents;
    ofListeners.queue = toListeners;
    ofLog.queue = toLog;
    return true;
  }

  /** Logs and records one warning for one loss: that of the outermost hold that it ends. */
  private void log(LeaseLoss loss, boolean warns) {
    String message = "lock '{}': the lease with fencing token {} is lost: {}";
    if (warns) {
      FlightRecording.lost(loss); // first, because a log may block
      LOG.warn(message, lockName, loss.fencingToken(), loss.detail());
    } else {
      LOG.debug(message, lockName, loss.fencingToken(), loss.detail());
    }
  }

  /** Has what is pending notified on workers; returns whether nothing was. Does not throw. */
  boolean deliver() {
    boolean none = isNonePending();
    ofDependents.start();
    ofListeners.start();
    ofLog.start();
    return none;
  }

  private synchronized boolean isNonePending() {
    return ofDependents.queue.isEmpty() && ofListeners.queue.isEmpty() && ofLog.queue.isEmpty();
  }

  /** Returns whether notifications are pending that no worker makes now. */
  synchronized boolean lacksWorker() {
    return ofDependents.lacksWorker() || ofListeners.lacksWorker() || ofLog.lacksWorker();
  }

  private void logFailure(String message, Throwable thrown) {
    try {
      LOG.error(message, lockName, thrown);
    } catch (Throwable noLog) {
      // There is no memory even for a message.
    }
  }
}
