package io.mortise.core.internal.lease;

import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Where one hold stands, and who is told when that changes.
 *
 * <p><b>Threads.</b> The standing changes by compare-and-set alone, under the lock of the events,
 * so that it is told in the order in which it changed. Whoever makes the change to LOST or
 * RELEASING does what belongs to it, once.
 */
public final class LeaseStateMachine {
  private final String name;
  private final LeaseListeners events;
  private final AtomicReference<LeaseStatus> standing = new AtomicReference<>(LeaseStatus.HELD);
  private final AtomicBoolean lossThrown = new AtomicBoolean();

  /**
   * @param name the lock's
   * @param worker runs what it is given soon, on another thread
   */
  public LeaseStateMachine(String name, Consumer<Runnable> worker) {
    this(name, worker, true);
  }

  /**
   * @param name the lock's
   * @param worker runs what it is given soon, on another thread
   * @param logs whether its loss is to be logged; not when it is that of another hold
   */
  public LeaseStateMachine(String name, Consumer<Runnable> worker, boolean logs) {
    this.name = name;
    this.events = new LeaseListeners(worker, name, logs);
  }

  /** Where it stands; nobody looks at the clock. */
  public LeaseStatus now() {
    return Objects.requireNonNull(standing.get());
  }

  private boolean move(LeaseStatus from, LeaseStatus to) {
    return events.changeAndNotify(() -> standing.compareAndSet(from, to), to.state(), to.loss());
  }

  /** A renewal is late. */
  public boolean atRisk() {
    return move(LeaseStatus.HELD, LeaseStatus.AT_RISK);
  }

  /** Renewals are on time again. */
  public void renewedInTime() {
    if (now().phase() == Phase.AT_RISK) {
      move(LeaseStatus.AT_RISK, LeaseStatus.HELD);
    }
  }

  /** Ends the hold as lost, unless it has ended already or is being released. */
  public boolean lose(LeaseLoss loss) {
    LeaseStatus after = LeaseStatus.lost(loss);
    LeaseStatus before;
    do {
      before = now();
      if (!before.isLive()) {
        return false;
      }
    } while (!move(before, after));
    return true;
  }

  /** Whether the hold is the caller's to release. */
  public boolean beginRelease() {
    LeaseStatus before;
    do {
      before = now();
      if (!before.isLive()) {
        return false;
      }
    } while (!standing.compareAndSet(before, LeaseStatus.RELEASING));
    return true;
  }

  /**
   * The release is over.
   *
   * @param loss if it turned out that the hold had been lost before
   */
  public void endRelease(@Nullable LeaseLoss loss) {
    move(LeaseStatus.RELEASING, loss == null ? LeaseStatus.RELEASED : LeaseStatus.lost(loss));
  }

  // ---- what callers ask

  /** The loss, if it is one. */
  public Optional<LeaseLoss> loss() {
    return Optional.ofNullable(now().loss());
  }

  /** Throws the loss, if it is one. */
  public void throwIfLost() {
    LeaseLoss loss = now().loss();
    if (loss != null) {
      throw new LeaseLostException(loss);
    }
  }

  /**
   * Throws the loss, if it is one, to whoever closes the hold, once.
   *
   * @param first whether this call released the hold
   */
  public void throwLossOnClose(boolean first) {
    if (now().loss() != null && (lossThrown.compareAndSet(false, true) || first)) {
      throwIfLost();
    }
  }

  /** Throws if the hold is not valid any more. */
  public void ensureValid(long token) {
    throwIfLost();
    if (!now().isLive()) {
      throwIfLost();
      throw new IllegalMonitorStateException(
          "lock '%s': the lease with fencing token %d was released already".formatted(name, token));
    }
  }

  /** Refuses to close the hold of a thread. */
  public void ensureHandle(@Nullable Thread owner) {
    if (owner != null) {
      throw new IllegalMonitorStateException(
          "lock '%s': this hold belongs to thread '%s', which gives it up by unlock()"
              .formatted(name, owner.getName()));
    }
  }

  /** See {@link io.mortise.core.Lease#onLost}. */
  public void onLost(Consumer<LeaseLoss> listener) {
    events.onLost(listener);
  }

  /** See {@link io.mortise.core.Lease#onStateChange}. */
  public void onStateChange(Consumer<State> listener) {
    events.onStateChange(listener);
  }

  /** See {@link io.mortise.core.spi.OwnedLease#onChangeWhileHeld}. */
  public Runnable onChangeWhileHeld(Consumer<State> listener, boolean tells) {
    return events.onChangeWhileHeld(listener, tells);
  }

  @Override
  public String toString() {
    return now().phase().toString();
  }
}
