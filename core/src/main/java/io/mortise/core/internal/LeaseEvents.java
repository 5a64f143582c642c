package io.mortise.core.internal;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Tells a lease's listeners what happens to it, in order, on a worker: never on the scheduler's
 * thread and never under a lock, so that a listener which blocks holds up nobody but its own
 * lease's other listeners.
 */
final class LeaseEvents {
  private final Consumer<Runnable> worker;
  private final String name;
  private final ReentrantLock lock = new ReentrantLock();

  @GuardedBy("lock")
  private final List<Consumer<LeaseLoss>> onLost = new ArrayList<>(0);

  @GuardedBy("lock")
  private final List<Consumer<State>> onChange = new ArrayList<>(0);

  @GuardedBy("lock")
  private final List<Consumer<State>> whileHeld = new ArrayList<>(0);

  @GuardedBy("lock")
  private final Deque<Runnable> pending = new ArrayDeque<>(1);

  @GuardedBy("lock")
  private boolean telling;

  @GuardedBy("lock")
  private @Nullable LeaseLoss loss;

  /**
   * @param worker runs what it is given soon, on another thread
   * @param name the lock's, for the log
   */
  LeaseEvents(Consumer<Runnable> worker, String name) {
    this.worker = worker;
    this.name = name;
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
      tell(listener, already);
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
  void onChangeWhileHeld(Consumer<State> listener) {
    lock.lock();
    try {
      whileHeld.add(listener);
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
  boolean changed(BooleanSupplier change, State state, @Nullable LeaseLoss what) {
    lock.lock();
    try {
      if (!change.getAsBoolean()) {
        return false;
      }
      for (Consumer<State> listener : onChange) {
        pending.add(() -> tell(listener, state));
      }
      if (state != State.RELEASED) {
        for (Consumer<State> listener : whileHeld) {
          pending.add(() -> tell(listener, state));
        }
      }
      if (what != null) {
        loss = what;
        for (Consumer<LeaseLoss> listener : onLost) {
          pending.add(() -> tell(listener, what));
        }
        onLost.clear();
      }
      if (telling || pending.isEmpty()) {
        return true;
      }
      telling = true;
    } finally {
      lock.unlock();
    }
    tellSoon();
    return true;
  }

  /** What cannot be told for want of a thread is told with the next change. */
  private void tellSoon() {
    try {
      worker.accept(this::tellPending);
    } catch (OutOfMemoryError noThread) {
      Engine.LOG.error("lock '{}': its listeners could not be told yet", name, noThread);
      lock.lock();
      try {
        telling = false;
      } finally {
        lock.unlock();
      }
    }
  }

  private void tellPending() {
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

  private <T> void tell(Consumer<T> listener, T what) {
    try {
      listener.accept(what);
    } catch (Throwable e) { // an AssertionError too: the other listeners are still to be told
      Engine.LOG.error("lock '{}': a listener failed", name, e);
    }
  }
}
