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
 * io.mortise.core.internal.lease.LeaseSlot} calls {@link #release} or {@link #handOff} once. The
 * fields that say what was given back are for that thread, and after an error for the one that
 * completes it.
 */
final class LocalQueueSlot implements QueueSlot {
  private final LocalQueues queues;
  private final LockId lockId;
  private final LocalQueue queue;

  /** Whether the hold has the permit. */
  private boolean permit;

  /** Whether the queue was given back. */
  private boolean left;

  LocalQueueSlot(LocalQueues queues, LockId lockId, LocalQueue queue, boolean permit) {
    this.queues = queues;
    this.lockId = lockId;
    this.queue = queue;
    this.permit = permit;
  }

  @Override
  public boolean hasWaiters() {
    return permit && queue.hasWaiters();
  }

  @Override
  public void release() {
    if (permit) {
      queue.release();
      permit = false; // not before: an error may keep the permit, see LocalQueue
    }
    if (!left) {
      queues.leave(lockId, queue);
      left = true;
    }
  }

  @Override
  public @Nullable TransferableHold handOff(TransferableHold hold, Runnable beforeOffer) {
    queue.offerHold(hold, beforeOffer);
    return completeHandOff();
  }

  @Override
  public @Nullable TransferableHold completeHandOff() {
    release();
    return queue.takeUnclaimedHold();
  }
}
