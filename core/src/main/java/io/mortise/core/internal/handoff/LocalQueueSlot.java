package io.mortise.core.internal.handoff;

import io.mortise.core.internal.lease.LockId;
import io.mortise.core.internal.lease.QueueSlot;
import io.mortise.core.internal.lease.TransferableHold;
import org.jspecify.annotations.Nullable;

/**
 * The slot in the local queue that a hold keeps, with the permit or, for an acquisition past the
 * queue, without it.
 *
 * <p><b>Threads.</b> Any thread may call any method; {@link
 * io.mortise.core.internal.lease.LeaseSlot} calls {@link #release} or {@link #handOff} once.
 */
final class LocalQueueSlot implements QueueSlot {
  private final LocalQueues queues;
  private final LockId lockId;
  private final LocalQueue queue;
  private final boolean withPermit;

  LocalQueueSlot(LocalQueues queues, LockId lockId, LocalQueue queue, boolean withPermit) {
    this.queues = queues;
    this.lockId = lockId;
    this.queue = queue;
    this.withPermit = withPermit;
  }

  @Override
  public boolean hasWaiters() {
    return withPermit && queue.hasWaiters();
  }

  @Override
  public void release() {
    queues.leave(lockId, queue, withPermit);
  }

  @Override
  public @Nullable TransferableHold handOff(TransferableHold hold, Runnable beforeOffer) {
    queue.offerHold(hold, beforeOffer);
    queues.leave(lockId, queue, true);
    return queue.takeUnclaimedHold();
  }
}
