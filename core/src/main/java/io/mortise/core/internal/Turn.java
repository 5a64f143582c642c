package io.mortise.core.internal;

import org.jspecify.annotations.Nullable;

/** The place in the line that a hold keeps: whoever ends the hold gives it up, once. */
final class Turn implements GateTicket {
  private final Gates gates;
  private final String lock;
  private final Gate gate;
  private final boolean withPermit;

  Turn(Gates gates, String lock, Gate gate, boolean withPermit) {
    this.gates = gates;
    this.lock = lock;
    this.gate = gate;
    this.withPermit = withPermit;
  }

  @Override
  public boolean isAwaited() {
    return withPermit && gate.hasWaiters();
  }

  @Override
  public void end() {
    gates.leave(lock, gate, withPermit);
  }

  @Override
  public @Nullable Tenure end(Tenure hold) {
    gate.put(hold);
    gates.leave(lock, gate, true);
    return gate.takeOrphan();
  }
}
