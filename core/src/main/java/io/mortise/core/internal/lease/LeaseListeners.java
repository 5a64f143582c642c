package io.mortise.core.internal.lease;

import com.google.common.collect.ImmutableList;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.internal.event.FlightRecording;
import java.util.List;
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
 * pending notifications. At most one thread at a time runs the pending notifications of listeners,
 * so they keep their order. A listener that is added after the loss is notified by the thread that
 * adds it. Dependents are notified apart from them, because a user's listener that blocks must not
 * delay them.
 */
final class LeaseListeners {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseListeners.class);

  private final NotificationWorkers workers;
  private final String lockName;
  private final boolean logsLoss;

  // A change makes a new list: most holds have none of these listeners, and many holds are kept.

  @GuardedBy("this")
  private List<Consumer<LeaseLoss>> onLost = List.of();

  @GuardedBy("this")
  private List<Consumer<State>> onChange = List.of();

  @GuardedBy("this")
  private List<Dependent> dependents = List.of();

  /** The notifications; null before the first one. */
  @GuardedBy("this")
  private @Nullable PendingNotifications pending;

  @GuardedBy("this")
  private @Nullable LeaseLoss loss;

  /** A composite hold that depends on this one; compared by identity. */
  private static final class Dependent {
    final Consumer<State> listener;
    final boolean logs;

    Dependent(Consumer<State> listener, boolean logs) {
      this.listener = listener;
      this.logs = logs;
    }
  }

  /**
   * @param workers run a task soon, on another thread
   * @param lockName for the log
   * @param logsLoss whether to warn of a loss; false when the loss is that of another hold
   */
  LeaseListeners(NotificationWorkers workers, String lockName, boolean logsLoss) {
    this.workers = workers;
    this.lockName = lockName;
    this.logsLoss = logsLoss;
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
      notifyListener(listener, earlierLoss);
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

  private synchronized void remove(Dependent dependent) {
    dependents = dependents.stream().filter(each -> each != dependent).toList();
  }

  private static <T> List<T> with(List<T> before, T added) {
    return ImmutableList.<T>builderWithExpectedSize(before.size() + 1)
        .addAll(before)
        .add(added)
        .build();
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
    synchronized (this) {
      boolean heardOf = newLoss != null || isHeardOf(state);
      if (!(heardOf ? queueAndChange(change, state, newLoss) : change.getAsBoolean())) {
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

  @GuardedBy("this")
  @SuppressWarnings("GuardedBy") // the monitor of the notifications is this one
  private boolean queueAndChange(BooleanSupplier change, State state, @Nullable LeaseLoss newLoss) {
    PendingNotifications queue = pending();
    return queue.addIf(change, () -> prepare(queue, state, newLoss));
  }

  /** Returns whether a listener is notified of a change that is no loss. */
  @GuardedBy("this")
  private boolean isHeardOf(State state) {
    return !onChange.isEmpty() || (state != State.RELEASED && !dependents.isEmpty());
  }

  @GuardedBy("this")
  private PendingNotifications pending() {
    PendingNotifications present = pending;
    if (present == null) {
      present = new PendingNotifications(this, workers, lockName);
      pending = present;
    }
    return present;
  }

  @GuardedBy("this")
  @SuppressWarnings("GuardedBy") // the monitor of the notifications is this one
  private void prepare(PendingNotifications queue, State state, @Nullable LeaseLoss newLoss) {
    if (state != State.RELEASED) {
      for (Dependent dependent : dependents) {
        queue.addForDependents(
            () -> PendingNotifications.notifyDependent(lockName, dependent.listener, state));
      }
    }
    for (Consumer<State> listener : onChange) {
      queue.add(() -> notifyListener(listener, state));
    }
    if (newLoss != null) {
      for (Consumer<LeaseLoss> listener : onLost) {
        queue.add(() -> notifyListener(listener, newLoss));
      }
      boolean warns = logsLoss && dependents.stream().noneMatch(dependent -> dependent.logs);
      queue.addLog(
          () -> notifyListener(lost -> log(lost, warns), newLoss)); // last, because a log may block
    }
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
    PendingNotifications queue = pendingOrNull();
    return queue == null || queue.deliver();
  }

  /** Returns whether notifications are pending that no worker makes now. */
  boolean lacksWorker() {
    PendingNotifications queue = pendingOrNull();
    return queue != null && queue.lacksWorker();
  }

  private synchronized @Nullable PendingNotifications pendingOrNull() {
    return pending;
  }

  private <T> void notifyListener(Consumer<T> listener, T event) {
    PendingNotifications.notifyListener(lockName, listener, event);
  }
}
