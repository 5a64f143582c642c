package io.mortise.core.internal.lease;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
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
 * Tells a lease's listeners what happens to it, in order, on a worker: never on the scheduler's
 * thread and never under a lock, so that a listener which blocks holds up nobody but its own
 * lease's other listeners.
 */
final class LeaseListeners {
  private static final Logger LOG = LoggerFactory.getLogger(LeaseListeners.class);

  private final Consumer<Runnable> worker;
  private final String name;
  private final boolean logs;
  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final List<Consumer<LeaseLoss>> onLost = new ArrayList<>(0);

  @GuardedBy("lock")
  private final List<Consumer<State>> onChange = new ArrayList<>(0);

  @GuardedBy("lock")
  private final List<Keeper> whileHeld = new ArrayList<>(0);

  @GuardedBy("lock")
  private final Deque<Runnable> pending = new ArrayDeque<>(1);

  @GuardedBy("lock")
  private boolean telling;

  @GuardedBy("lock")
  private @Nullable LeaseLoss loss;

  /** A hold that is made of this one. Each is another, also with equal parts. */
  private static final class Keeper {
    final Consumer<State> listener;
    final boolean tells;

    Keeper(Consumer<State> listener, boolean tells) {
      this.listener = listener;
      this.tells = tells;
    }
  }

  /**
   * @param worker runs what it is given soon, on another thread
   * @param name the lock's, for the log
   * @param logs whether a loss is to be warned of; not when it is that of another hold
   */
  LeaseListeners(Consumer<Runnable> worker, String name, boolean logs) {
    this.worker = worker;
    this.name = name;
    this.logs = logs;
  }

  /** See {@link io.mortise.core.Lease#onLost}. */
  void onLost(Consumer<LeaseLoss> listener) {
    LeaseLoss already;
    lock.lock();
    try {
      already = loss;
      if (already == null) {
        onLost.add(listener);
      }
    } finally {
      lock.unlock();
    }
    if (already != null) {
      notifyListener(listener, already);
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
  Runnable onChangeWhileHeld(Consumer<State> listener, boolean tells) {
    Keeper keeper = new Keeper(listener, tells);
    lock.lock();
    try {
      whileHeld.add(keeper);
    } finally {
      lock.unlock();
    }
    return () -> remove(keeper);
  }

  private void remove(Keeper keeper) {
    lock.lock();
    try {
      whileHeld.remove(keeper);
    } finally {
      lock.unlock();
    }
  }

  /**
   * Makes a change and tells it: in one step, so that listeners hear of changes in the order in
   * which they happened.
   *
   * @param change makes the change; false if there was none
   * @param what with {@link State#LOST}, the loss
   * @return what {@code change} gave
   */
  boolean changeAndNotify(BooleanSupplier change, State state, @Nullable LeaseLoss what) {
    List<Keeper> keepers;
    boolean tells;
    lock.lock();
    try {
      keepers = state == State.RELEASED ? List.of() : List.copyOf(whileHeld);
      int before = pending.size();
      boolean made = false;
      try {
        prepare(state, what);
        made = change.getAsBoolean();
      } finally {
        while (!made && pending.size() > before) {
          pending.removeLast();
        }
      }
      if (!made) {
        return false;
      }
      if (what != null) {
        loss = what;
        onLost.clear();
      }
      tells = !telling && !pending.isEmpty();
      telling |= tells;
    } finally {
      lock.unlock();
    }
    // By themselves: a listener of the user's that blocks must not keep a loss from them.
    if (!keepers.isEmpty()) {
      var unused = soon(() -> keepers.forEach(keeper -> notifyListener(keeper.listener, state)));
    }
    if (tells && !soon(this::notifyPending)) {
      lock.lock();
      try {
        telling = false;
      } finally {
        lock.unlock();
      }
    }
    return true;
  }

  /** Before the change, so that an error for want of memory leaves everything as it was. */
  @GuardedBy("lock")
  private void prepare(State state, @Nullable LeaseLoss what) {
    for (Consumer<State> listener : onChange) {
      pending.add(() -> notifyListener(listener, state));
    }
    if (what != null) {
      for (Consumer<LeaseLoss> listener : onLost) {
        pending.add(() -> notifyListener(listener, what));
      }
      boolean warns = logs && whileHeld.stream().noneMatch(keeper -> keeper.tells);
      pending.add(
          () -> notifyListener(told -> log(told, warns), what)); // last, because a log may block
    }
  }

  /** One loss is one warning: that of the outermost hold which is lost by it. */
  private void log(LeaseLoss loss, boolean warns) {
    String what = "lock '{}': the lease with fencing token {} is lost: {}";
    if (warns) {
      LOG.warn(what, name, loss.fencingToken(), loss.detail());
    } else {
      LOG.debug(what, name, loss.fencingToken(), loss.detail());
    }
  }

  /** What cannot be told for want of a thread is told with the next change. */
  private boolean soon(Runnable telling) {
    try {
      worker.accept(telling);
      return true;
    } catch (RejectedExecutionException closed) {
      telling.run(); // there are no threads any more
      return true;
    } catch (RuntimeException | Error failed) {
      LOG.error("lock '{}': its listeners could not be told yet", name, failed);
      return false;
    }
  }

  private void notifyPending() {
    while (true) {
      Runnable next;
      lock.lock();
      try {
        next = pending.poll();
        if (next == null) {
          telling = false;
          return;
        }
      } finally {
        lock.unlock();
      }
      next.run();
    }
  }

  private <T> void notifyListener(Consumer<T> listener, T what) {
    try {
      listener.accept(what);
    } catch (Throwable e) { // an AssertionError too: the other listeners are still to be told
      LOG.error("lock '{}': a listener failed", name, e);
    }
  }
}
