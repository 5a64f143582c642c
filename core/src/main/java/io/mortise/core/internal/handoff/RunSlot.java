package io.mortise.core.internal.handoff;

import io.mortise.core.internal.lease.QueueSlot;
import io.mortise.core.internal.lease.TransferableHold;
import io.mortise.core.spi.RunProtocol;
import org.jspecify.annotations.Nullable;

/**
 * The run behind a hold that Redis has granted in the order of its queue. The end of the hold
 * passes it to the next waiter of the run; when that one has left, or needs another hold, the run
 * ends: the hold is released, and Redis finds the next waiter.
 *
 * <p>A waiter that has left may have been granted the lock by Redis, because this hold was lost. So
 * the run does not go on behind it.
 *
 * <p><b>Threads.</b> Any thread may call any method. {@link
 * io.mortise.core.internal.lease.LeaseSlot} calls {@link #handOff} at most once; only that call
 * writes, into the offer, which it then publishes.
 *
 * @param offer the offer to the next waiter, with the run
 * @param leaseMillis the lease of the hold
 */
record RunSlot(RunWaiters waiters, RunWaiter.Offer offer, long leaseMillis) implements QueueSlot {
  /**
   * Creates the slot of a hold.
   *
   * @param protocol the protocol of the hold, with the run
   */
  RunSlot(RunWaiters waiters, RunProtocol protocol, long leaseMillis) {
    this(waiters, new RunWaiter.Offer(protocol), leaseMillis);
  }

  @Override
  public boolean hasWaiters() {
    RunWaiter next = waiters.next(offer.protocol());
    return next != null && next.wants(leaseMillis);
  }

  @Override
  public void release() {
    // The places of the waiters are in Redis.
  }

  @Override
  public @Nullable TransferableHold handOff(TransferableHold hold, Runnable beforeOffer) {
    RunWaiter next = waiters.next(offer.protocol());
    if (next == null || !next.wants(hold.leaseMillis())) {
      return hold;
    }
    return next.offer(offer.of(hold), beforeOffer) ? null : hold;
  }

  /** The error may have come between the offer and the signal. */
  @Override
  public @Nullable TransferableHold completeHandOff() {
    RunWaiter next = waiters.next(offer.protocol());
    if (next != null) {
      next.wake();
    }
    return null;
  }
}
