package io.mortise.core.internal.lease;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import io.mortise.core.spi.OwnedLease;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * A hold that keeps its status in a {@link LeaseStateMachine}. Each query brings the status up to
 * date first: a hold that is over is lost by then.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
public abstract class StatefulLease implements OwnedLease {
  protected final LeaseStateMachine state;

  protected StatefulLease(LeaseStateMachine state) {
    this.state = state;
  }

  /** Brings the status up to date. */
  protected abstract void refresh();

  private LeaseStatus statusNow() {
    refresh();
    return state.now();
  }

  /** Returns the remaining time of a hold that has not ended. */
  protected abstract Duration remainingWhileHeld();

  /** Returns whether the hold is held and no release has begun. */
  public final boolean isLive() {
    return statusNow().isLive();
  }

  @Override
  public final Lease.State state() {
    return statusNow().state();
  }

  @Override
  public final boolean isValid() {
    LeaseStatus now = statusNow();
    return now.isLive() || (now.phase() == Phase.RELEASING && !remainingWhileHeld().isZero());
  }

  @Override
  public final Duration remaining() {
    Phase phase = statusNow().phase();
    return phase == Phase.LOST || phase == Phase.RELEASED ? Duration.ZERO : remainingWhileHeld();
  }

  @Override
  public final Optional<LeaseLoss> loss() {
    refresh();
    return state.loss();
  }

  @Override
  public final void ensureValid() {
    refresh();
    state.ensureValid(fencingToken());
  }

  @Override
  public final void onLost(Consumer<LeaseLoss> listener) {
    Objects.requireNonNull(listener, "listener");
    refresh(); // a loss that was not detected yet is notified at once
    state.onLost(listener);
  }

  @Override
  public final void onStateChange(Consumer<Lease.State> listener) {
    state.onStateChange(Objects.requireNonNull(listener, "listener"));
  }

  @Override
  public final Runnable onChangeWhileHeld(Consumer<Lease.State> listener, boolean listenerLogs) {
    return state.onChangeWhileHeld(listener, listenerLogs);
  }
}
