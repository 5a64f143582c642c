package io.mortise.core.internal.lease;

import org.jspecify.annotations.Nullable;

/** A slot in a local queue in which others wait; they take every hold that is offered. */
class SlotWithWaiters implements QueueSlot {
  @Override
  public boolean hasWaiters() {
    return true;
  }

  @Override
  public void release() {}

  @Override
  public @Nullable TransferableHold handOff(TransferableHold hold, Runnable beforeOffer) {
    return null;
  }
}
