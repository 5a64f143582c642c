package io.mortise.core.internal.lease;

import org.jspecify.annotations.Nullable;

/** A slot behind which another acquisition waits. A test overrides what it is about. */
class FakeQueueSlot implements QueueSlot {
  @Override
  public boolean hasWaiters() {
    return true;
  }

  @Override
  public void release() {}

  @Override
  public @Nullable TransferableHold handOff(TransferableHold hold, Runnable beforeOffer) {
    beforeOffer.run();
    return null;
  }

  @Override
  public @Nullable TransferableHold completeHandOff() {
    return null;
  }
}
