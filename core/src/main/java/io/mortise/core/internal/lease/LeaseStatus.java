package io.mortise.core.internal.lease;

import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import org.jspecify.annotations.Nullable;

/**
 * The phase of a hold, with the loss if the hold is lost: both change in one step.
 *
 * @param phase the phase
 * @param loss present in phase LOST, and in phase RELEASED if the hold was handed off, no thread
 *     took it, and its release found it lost
 */
public record LeaseStatus(Phase phase, @Nullable LeaseLoss loss) {

  /** The phases of a hold, from its acquisition to its end. */
  public enum Phase {
    HELD,
    AT_RISK,
    RELEASING,
    LOST,
    RELEASED
  }

  static final LeaseStatus HELD = new LeaseStatus(Phase.HELD, null);
  static final LeaseStatus AT_RISK = new LeaseStatus(Phase.AT_RISK, null);
  static final LeaseStatus RELEASING = new LeaseStatus(Phase.RELEASING, null);
  static final LeaseStatus RELEASED = new LeaseStatus(Phase.RELEASED, null);

  static LeaseStatus lost(LeaseLoss loss) {
    return new LeaseStatus(Phase.LOST, loss);
  }

  /** Returns whether the hold is held and no release has begun. */
  public boolean isLive() {
    return phase == Phase.HELD || phase == Phase.AT_RISK;
  }

  /** Returns the state that the holder sees: a hold is held until its release is confirmed. */
  public State state() {
    return switch (phase) {
      case HELD, RELEASING -> State.HELD;
      case AT_RISK -> State.AT_RISK;
      case LOST -> State.LOST;
      case RELEASED -> State.RELEASED;
    };
  }
}
