package io.mortise.core.internal.lease;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The status of one hold, with the listeners that are notified of its changes.
 *
 * <p><b>Threads.</b> Any thread may call any method. The status changes by compare-and-set only. A
 * change that listeners are notified of happens under the monitor of {@link LeaseListeners}, so
 * that they are notified in the order of the changes. Without them a change happens under the
 * monitor of this object, under which they are made: a listener is notified of every change after
 * its addition. The thread that makes the change to LOST or RELEASING does what belongs to it,
 * once.
 */
public final class LeaseStateMachine {
  // No AtomicReference: a client may keep a million holds.
  private static final AtomicReferenceFieldUpdater<LeaseStateMachine, LeaseStatus> STATUS =
      AtomicReferenceFieldUpdater.newUpdater(LeaseStateMachine.class, LeaseStatus.class, "status");

  private final String lockName;
  private final NotificationWorkers workers;
  private final boolean logsLoss;
  private volatile LeaseStatus status = LeaseStatus.HELD;

  /** The listeners; null before the first one and the loss: most holds have neither. */
  private volatile @Nullable LeaseListeners listeners;

  @GuardedBy("this")
  private boolean lossThrown;

  /** Is called with the end, and the loss if the hold was lost; null while nobody asks for it. */
  private volatile @Nullable Consumer<@Nullable LeaseLoss> onEnd;

  public LeaseStateMachine(String lockName, NotificationWorkers workers) {
    this(lockName, workers, true);
  }

  /**
   * @param lockName the name of the lock
   * @param workers run the notifications
   * @param logsLoss whether to log a loss; false when the loss is that of another hold
   */
  public LeaseStateMachine(String lockName, NotificationWorkers workers, boolean logsLoss) {
    this.lockName = lockName;
    this.workers = workers;
    this.logsLoss = logsLoss;
  }

  /** Returns the current status without reading the clock. */
  public LeaseStatus now() {
    return status;
  }

  private boolean transition(LeaseStatus from, LeaseStatus to) {
    try {
      synchronized (this) {
        if (listeners == null && to.loss() == null) {
          return STATUS.compareAndSet(this, from, to);
        }
      }
      return listeners()
          .changeAndNotify(() -> STATUS.compareAndSet(this, from, to), to.state(), to.loss());
    } finally {
      reportEnd();
    }
  }

  private synchronized LeaseListeners listeners() {
    LeaseListeners present = listeners;
    if (present == null) {
      present = new LeaseListeners(workers, lockName, logsLoss);
      listeners = present;
    }
    return present;
  }

  /** Publish, then look: the end changes the status, and then calls this. */
  private void reportEnd() {
    Consumer<@Nullable LeaseLoss> observer = onEnd;
    if (observer != null) {
      LeaseStatus reached = now();
      if (reached.phase() == Phase.LOST || reached.phase() == Phase.RELEASED) {
        observer.accept(reached.loss());
      }
    }
  }

  /** Changes HELD to AT_RISK, because a renewal is late or has failed; returns whether it did. */
  public boolean atRisk() {
    return transition(LeaseStatus.HELD, LeaseStatus.AT_RISK);
  }

  /** Changes AT_RISK to HELD, because Redis has confirmed the hold; returns whether it did. */
  public boolean renewedInTime() {
    return now().phase() == Phase.AT_RISK && transition(LeaseStatus.AT_RISK, LeaseStatus.HELD);
  }

  /** Ends the hold as lost; returns false if it has ended or its release has begun. */
  public boolean lose(LeaseLoss loss) {
    LeaseStatus after = LeaseStatus.lost(loss);
    LeaseStatus before;
    do {
      before = now();
      if (!before.isLive()) {
        return false;
      }
    } while (!transition(before, after));
    return true;
  }

  /** Begins the release; returns whether the caller has to complete it. */
  public boolean beginRelease() {
    LeaseStatus before;
    do {
      before = now();
      if (!before.isLive()) {
        return false;
      }
    } while (!STATUS.compareAndSet(this, before, LeaseStatus.RELEASING));
    return true;
  }

  /**
   * Completes the release, with the loss if the hold turned out to be lost before. A hold that
   * ended as released, because it was offered to another thread, stays that: its owner learns of
   * the loss.
   */
  public void endRelease(@Nullable LeaseLoss loss) {
    boolean ended =
        transition(
            LeaseStatus.RELEASING, loss == null ? LeaseStatus.RELEASED : LeaseStatus.lost(loss));
    if (!ended && loss != null) {
      STATUS.compareAndSet(this, LeaseStatus.RELEASED, new LeaseStatus(Phase.RELEASED, loss));
    }
  }

  // ---- for events

  /**
   * Sets the observer of the end, which gets the loss if the hold was lost; called at once if the
   * hold has ended. It may be called several times, and by several threads, and must not throw.
   */
  public void onEnd(Consumer<@Nullable LeaseLoss> observer) {
    onEnd = observer;
    reportEnd();
  }

  /** Has listeners notified that could not be notified yet; returns whether there was none. */
  public boolean deliver() {
    LeaseListeners present = listeners;
    return present == null || present.deliver();
  }

  /** Returns whether listeners have to be notified and no worker could be started for that. */
  private boolean lacksWorker() {
    LeaseListeners present = listeners;
    return present != null && present.lacksWorker();
  }

  /** Throws unless the listeners have been notified, or a worker does so. */
  public void ensureDelivered() {
    var unused = deliver(); // another thread may be between its change and this
    if (lacksWorker()) {
      throw new UndeliveredException(lockName);
    }
  }

  // ---- for the holder

  public Optional<LeaseLoss> loss() {
    return Optional.ofNullable(now().loss());
  }

  public void throwIfLost() {
    LeaseLoss loss = now().loss();
    if (loss != null) {
      throw new LeaseLostException(loss);
    }
  }

  /**
   * Throws the loss, if there is one, to the callers of {@code close}: once, and to the call that
   * released the hold.
   *
   * @param first whether this call released the hold
   */
  public void throwLossOnClose(boolean first) {
    if (now().loss() != null && (isFirstThrow() || first)) {
      throwIfLost();
    }
  }

  private synchronized boolean isFirstThrow() {
    boolean before = lossThrown;
    lossThrown = true;
    return !before;
  }

  /** Throws if the hold is no longer valid. */
  public void ensureValid(long token) {
    if (!now().isLive()) {
      throwIfLost();
      throw new IllegalMonitorStateException(
          "lock '%s': the lease with fencing token %d was released already"
              .formatted(lockName, token));
    }
  }

  /** Throws if the hold belongs to a thread, and so cannot be closed. */
  public void ensureHandle(@Nullable Thread owner) {
    if (owner != null) {
      throw new IllegalMonitorStateException(
          "lock '%s': this hold belongs to thread '%s', which gives it up by unlock()"
              .formatted(lockName, owner.getName()));
    }
  }

  /** See {@link io.mortise.core.Lease#onLost}. */
  public void onLost(Consumer<LeaseLoss> listener) {
    listeners().onLost(listener);
  }

  /** See {@link io.mortise.core.Lease#onStateChange}. */
  public void onStateChange(Consumer<State> listener) {
    listeners().onStateChange(listener);
  }

  /** See {@link io.mortise.core.spi.OwnedLease#onChangeWhileHeld}. */
  public Runnable onChangeWhileHeld(Consumer<State> listener, boolean listenerLogs) {
    return listeners().onChangeWhileHeld(listener, listenerLogs);
  }

  @Override
  public String toString() {
    return now().phase().toString();
  }
}
