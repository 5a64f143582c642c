package io.mortise.core.internal.handoff;

import io.mortise.core.internal.lease.QueueSlot;
import io.mortise.core.internal.lease.TransferableHold;
import org.jspecify.annotations.Nullable;

/** The place in the line that a hold keeps: whoever ends the hold gives it up, once. */
final class HeldTicket implements QueueSlot {
  private final LocalQueues gates;
  private final String lock;
  private final LocalQueue gate;
  private final boolean withPermit;

  HeldTicket(LocalQueues gates, String lock, LocalQueue gate, boolean withPermit) {
    this.gates = gates;
    this.lock = lock;
    this.gate = gate;
    this.withPermit = withPermit;
  }

  @Override
  public boolean hasWaiters() {
    return withPermit && gate.hasWaiters();
  }

  @Override
  public void release() {
    gates.leave(lock, gate, withPermit);
  }

  @Override
  public @Nullable TransferableHold passOn(TransferableHold hold) {
    gate.offerHold(hold);
    gates.leave(lock, gate, true);
    return gate.takeUnclaimedHold();
  }
}
