package io.mortise.core.internal.handoff;

import io.mortise.connection.pool.CommandException;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.TransferableHold;
import io.mortise.core.spi.LockProtocol;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One acquisition's place in the line of its lock, or no place when there is no line.
 *
 * <p>It is given back exactly once: by {@code leave}, or, once it was handed over, at the end of
 * the hold. Confined to the thread that acquires, like its acquisition.
 */
public final class QueueTicket {
  private final LeaseContext context;
  private final LocalQueues gates;
  private final LockProtocol protocol;
  private final String lock;
  private @Nullable LocalQueue gate;
  private boolean permit;

  /** A hold that came with the permit, and has not been used yet. */
  private @Nullable TransferableHold tenure;

  /** No place yet. */
  public QueueTicket(LeaseContext context, LocalQueues gates, LockProtocol protocol) {
    this.context = context;
    this.gates = gates;
    this.protocol = protocol;
    this.lock = LeaseContext.idOf(protocol);
  }

  /**
   * Waits in the line until it is this one's turn; false when the time is over.
   *
   * @param wanted whether it could use a hold that passes on
   */
  public boolean enter(long nanos, boolean interruptible, Predicate<TransferableHold> wanted)
      throws InterruptedException {
    LocalQueue line = gates.join(lock);
    gate = line;
    permit = line.enter(nanos, interruptible, wanted);
    takeTenure(line);
    return permit;
  }

  /** Takes its turn if it is nobody else's. */
  public boolean tryEnter() {
    LocalQueue line = gates.join(lock);
    gate = line;
    permit = line.enterIfFree();
    takeTenure(line);
    return permit;
  }

  private void takeTenure(LocalQueue line) {
    if (permit) {
      tenure = line.takeHold();
    }
  }

  /** A hold that the one before has left to this one; null when there is none. */
  public @Nullable TransferableHold offeredHold() {
    return tenure;
  }

  /**
   * Gives up what the one before has left, because this one needs something else.
   *
   * @param withinNanos how long that may take; what is not done then is done in the background
   */
  public void releaseOfferedHold(long withinNanos) {
    TransferableHold hold = tenure;
    if (hold != null) {
      tenure = null;
      context.releases().releaseNow(protocol, hold, withinNanos);
    }
  }

  /** How often a hold is likely to pass on in this line. */
  int expectedPasses() {
    return gate == null ? 0 : gate.expectedPasses();
  }

  /** Whether others stand in the line behind this one. */
  boolean hasSuccessors() {
    return gate != null && permit && gate.hasWaiters();
  }

  /** What the first in the line ran into; null when nothing, or there is no line. */
  public LocalQueue.@Nullable Outage trouble() {
    return gate == null ? null : gate.trouble();
  }

  /** Whether somebody has been seen to hold the lock, here or, since then, by Redis. */
  public boolean isTakenSince(long nanos) {
    return isHeldHere() || (gate != null && gate.wasBusySince(nanos));
  }

  /** Whether a thread of this client holds the lock. */
  public boolean isHeldHere() {
    return gate != null && gate.isHeldHere();
  }

  /** Tells the line that Redis said: busy. */
  public void wasBusy() {
    if (gate != null) {
      gate.wasBusy(context.nanos());
    }
  }

  /** Tells those behind how the last attempt went; null when it was answered. */
  public void recordAttempt(@Nullable CommandException fault) {
    if (gate != null && permit) {
      gate.recordAttempt(fault, context.nanos());
    }
  }

  /** Goes to the end of the line, if anybody stands behind. */
  public void moveToTail(long nanos, boolean interruptible) throws InterruptedException {
    LocalQueue line = gate;
    if (line != null && permit && line.hasWaiters()) {
      permit = false;
      line.release();
      permit = line.enter(nanos, interruptible);
      takeTenure(line);
    }
  }

  /** From here on the place is the lease's, which gives it back when it ends. */
  public void transferTo(RedisLease lease) {
    LocalQueue line = gate;
    tenure = null;
    if (line != null) {
      boolean withPermit = permit;
      HeldTicket turn = new HeldTicket(gates, lock, line, withPermit);
      if (withPermit) {
        line.setHolder(lease); // before its end may pass the permit on
      }
      gate = null;
      permit = false;
      lease.end().setSlot(turn);
    }
  }

  /** Gives the place back, unless it was handed over; and the hold that came with it, if any. */
  public void release() {
    LocalQueue line = gate;
    if (line != null) {
      TransferableHold unused = tenure;
      if (unused != null) {
        line.offerHold(unused);
        tenure = null;
      }
      gates.leave(lock, line, permit);
      gate = null;
      TransferableHold orphan = line.takeUnclaimedHold();
      if (orphan != null) {
        context.releases().releaseInBackground(protocol, orphan);
      }
    }
  }
}
