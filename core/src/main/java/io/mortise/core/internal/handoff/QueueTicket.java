package io.mortise.core.internal.handoff;

import com.google.common.base.Ticker;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.internal.lease.BackgroundReleaser;
import io.mortise.core.internal.lease.LockId;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.TransferableHold;
import io.mortise.core.spi.LockProtocol;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The ticket of one acquisition in the local queue of its lock; without effect until the
 * acquisition enters the queue.
 *
 * <p>It is given back exactly once: by {@link #release}, or, after {@link #transferTo}, at the end
 * of the hold.
 *
 * <p><b>Threads.</b> Confined to the thread that acquires, like its acquisition.
 */
public final class QueueTicket {
  private final Ticker ticker;
  private final BackgroundReleaser releases;
  private final LocalQueues queues;
  private final LockProtocol protocol;
  private final LockId lockId;
  private @Nullable LocalQueue queue;
  private boolean permit;

  /** A hold that came with the permit, and has not been used yet. */
  private @Nullable TransferableHold offered;

  /** A hold that nobody else has or will take; kept until its release has begun. */
  private @Nullable TransferableHold unclaimed;

  /** The queue that was left, until it was searched for an unclaimed hold. */
  private @Nullable LocalQueue left;

  /** Creates a ticket that is not in a queue yet. */
  public QueueTicket(
      Ticker ticker, BackgroundReleaser releases, LocalQueues queues, LockProtocol protocol) {
    this.ticker = ticker;
    this.releases = releases;
    this.queues = queues;
    this.protocol = protocol;
    this.lockId = LockId.of(protocol);
  }

  /**
   * Waits in the queue for the permit; returns false when the time is over.
   *
   * @param acceptable tests whether this acquisition could use a hold that is handed off
   */
  public boolean enter(long nanos, boolean interruptible, Predicate<TransferableHold> acceptable)
      throws InterruptedException {
    LocalQueue current = queues.join(lockId);
    queue = current;
    permit = current.enter(nanos, interruptible, acceptable);
    takeOfferedHold(current);
    return permit;
  }

  /** Takes the permit if it is free, without waiting; see {@link LocalQueue#enterIfFree}. */
  public boolean tryEnter() {
    LocalQueue current = queues.join(lockId);
    queue = current;
    permit = current.enterIfFree();
    takeOfferedHold(current);
    return permit;
  }

  private void takeOfferedHold(LocalQueue current) {
    if (permit) {
      offered = current.takeHold();
    }
  }

  /** Returns the hold that was handed off to this acquisition; null when there is none. */
  public @Nullable TransferableHold offeredHold() {
    return offered;
  }

  /**
   * Releases the hold that was handed off to this acquisition, because its terms need another.
   *
   * @param withinNanos the time limit; after it the release goes on in the background
   */
  public void releaseOfferedHold(long withinNanos) {
    TransferableHold hold = offered;
    if (hold != null) {
      unclaimed = hold;
      offered = null;
      releases.releaseNow(protocol, hold, withinNanos);
      unclaimed = null;
    }
  }

  /** Returns how often a hold is likely to be handed off in this queue. */
  int expectedHandOffs() {
    return queue == null ? 0 : queue.expectedHandOffs();
  }

  /** Returns whether this ticket has the permit, and other acquisitions wait for it. */
  public boolean hasSuccessors() {
    return queue != null && permit && queue.hasWaiters();
  }

  /**
   * Returns the faults that the previous owner of the permit met; null if none, or without a queue.
   */
  public @Nullable FaultSeries faults() {
    return queue == null ? null : queue.observations().faults();
  }

  /** Returns whether the lock is held in this client, or Redis has said so since that time. */
  public boolean wasHeldSince(long nanos) {
    return isHeldHere() || (queue != null && queue.observations().isBusySince(nanos));
  }

  /** Returns whether a hold of this client has the permit and is valid. */
  public boolean isHeldHere() {
    return queue != null && queue.isHeldHere();
  }

  /** Records in the queue that Redis said: busy. */
  public void recordBusy() {
    if (queue != null) {
      queue.recordBusy(ticker.read());
    }
  }

  /**
   * Records the outcome of the last attempt for the acquisitions behind.
   *
   * @param fault null when the attempt was answered
   */
  public void recordAttempt(@Nullable CommandException fault) {
    if (queue != null && permit) {
      queue.recordAttempt(fault, ticker.read());
    }
  }

  /**
   * Moves to the tail of the queue, if this ticket has the permit; returns false when the time is
   * over, and it has not.
   */
  public boolean moveToTail(long nanos, boolean interruptible) throws InterruptedException {
    LocalQueue current = queue;
    if (current != null && permit) {
      current.release();
      permit = false; // not before: an error may keep the permit, see LocalQueue
      permit = current.enter(nanos, interruptible);
      takeOfferedHold(current);
    }
    return permit;
  }

  /** Transfers the slot in the queue to the lease, which gives it back when it ends. */
  public void transferTo(RedisLease lease) {
    LocalQueue current = queue;
    offered = null;
    if (current != null) {
      boolean withPermit = permit;
      LocalQueueSlot slot = new LocalQueueSlot(queues, lockId, current, withPermit);
      if (withPermit) {
        current.setHolder(lease); // before its end may release the permit
      }
      queue = null;
      permit = false;
      lease.termination().setSlot(slot);
    }
  }

  /**
   * Gives the ticket back, unless it was transferred, with the hold that came with it, if any. May
   * be called again after an error.
   */
  public void release() {
    releaseUnclaimed(); // after an error in releaseOfferedHold, or in an earlier call
    LocalQueue current = queue;
    if (current != null) {
      TransferableHold unused = offered;
      if (unused != null) {
        current.offerHold(unused);
        offered = null;
      }
      if (permit) {
        current.release();
        permit = false; // as in moveToTail
      }
      queues.leave(lockId, current);
      left = current;
      queue = null;
    }
    LocalQueue searched = left;
    if (searched != null) {
      unclaimed = searched.takeUnclaimedHold();
      left = null;
      releaseUnclaimed();
    }
  }

  private void releaseUnclaimed() {
    TransferableHold hold = unclaimed;
    if (hold != null) {
      releases.releaseInBackground(protocol, hold);
      unclaimed = null;
    }
  }
}
