package io.mortise.core.internal.lease;

import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import org.jspecify.annotations.Nullable;

/**
 * Where a hold stands, with the loss if it is lost: both change in one step.
 *
 * @param phase the phase
 * @param loss with LOST, and only then
 */
public record LeaseStatus(Phase phase, @Nullable LeaseLoss loss) {

  /** From the acquisition to the end. */
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

  /** Held, and nobody is about to release it. */
  public boolean isLive() {
    return phase == Phase.HELD || phase == Phase.AT_RISK;
  }

  /** As the holder sees it: what is being released is held until Redis has said so. */
  public State state() {
    return switch (phase) {
      case HELD, RELEASING -> State.HELD;
      case AT_RISK -> State.AT_RISK;
      case LOST -> State.LOST;
      case RELEASED -> State.RELEASED;
    };
  }
}
