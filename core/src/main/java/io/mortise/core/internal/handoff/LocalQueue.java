package io.mortise.core.internal.handoff;

import io.mortise.connection.pool.CommandException;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.TransferableHold;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The line in which the threads of one client wait for one name: the first of them talks to Redis,
 * and keeps the permit for as long as it holds the lock; then the next has its turn. Only a hold
 * that passes on may be taken past the line, within bounds: see {@link #barge}.
 *
 * <p>The permit belongs to an acquisition, not to a thread: a lease may be closed by any thread,
 * and may be lost, and passes the permit on exactly once, by {@link LocalQueues#leave}.
 */
public final class LocalQueue {
  /** How often in a row the line may be overtaken. */
  static final int MOST_OVERTAKEN = 8;

  /** For how long after it moved: about as long as a thread takes to wake up. */
  static final long OVERTAKING_NANOS = 50_000;

  /** How often a hold is expected to pass on in a line of which nothing is known. */
  static final int FEWEST_PASSES = 16;

  private final LongSupplier clock;
  private final Semaphore permit = new Semaphore(1, true);

  /** How many threads use this gate; guarded by the map of {@link LocalQueues}. */
  int users;

  /** The hold whose permit it is, when it is not one that still tries. */
  private volatile @Nullable RedisLease holder;

  /** A hold that passes on: it belongs to whoever has the permit, and lies here in between. */
  private final AtomicReference<@Nullable TransferableHold> tenure = new AtomicReference<>();

  /** How often somebody came past the line since it last moved; written with the permit. */
  private volatile int overtaken;

  /** When the line last moved; written with the permit. */
  private volatile long movedNanos;

  /** How often a hold may be expected to pass on here; written with the permit. */
  private volatile int expectedPasses = FEWEST_PASSES;

  private volatile LocalQueue.@Nullable Outage trouble;

  /** When Redis last said that somebody else holds the lock; meaningful if {@code busyHeard}. */
  private volatile long busyNanos;

  private volatile boolean busyHeard;

  /**
   * That whoever had the permit last got no answer from Redis.
   *
   * @param fault the last fault
   * @param sinceNanos when the first of a row of faults was seen
   * @param lastNanos when the last was seen
   */
  public record Outage(CommandException fault, long sinceNanos, long lastNanos) {
    private static final long FRESH_NANOS = 1_000_000_000L;

    /** Whether it is so recent that another attempt would tell nothing new. */
    public boolean isFresh(long nowNanos) {
      return nowNanos - lastNanos < FRESH_NANOS;
    }
  }

  /**
   * A gate with a free permit.
   *
   * @param clock what limits overtaking
   */
  LocalQueue(LongSupplier clock) {
    this.clock = clock;
  }

  /**
   * Waits for the permit; who is not interruptible keeps its place in the line through interrupts.
   *
   * @param wanted whether a hold that passes on is what this one asks for, see {@link #barge}
   */
  boolean enter(long nanos, boolean interruptible, Predicate<TransferableHold> wanted)
      throws InterruptedException {
    if (nanos <= 0) {
      return enterIfFree();
    }
    if (barge(wanted)) {
      return true;
    }
    boolean entered = enterInTurn(nanos, interruptible);
    if (entered) {
      overtaken = 0;
      movedNanos = clock.getAsLong();
    }
    return entered;
  }

  private boolean enterInTurn(long nanos, boolean interruptible) throws InterruptedException {
    if (interruptible) {
      return permit.tryAcquire(nanos, TimeUnit.NANOSECONDS);
    }
    if (nanos == Long.MAX_VALUE) {
      permit.acquireUninterruptibly();
      return true;
    }
    return enterThroughInterrupts(nanos);
  }

  /**
   * Takes a hold that was just left here, before the first in line has woken up to take it, because
   * a thread that runs needs no switch of threads for it. A few times in a row, {@code tryLock()}
   * without a wait included; then the line moves. So the first in line waits for at most {@link
   * #MOST_OVERTAKEN} holds of others once it could have had its turn. Where Redis has to be asked
   * nobody who waits overtakes: the time of a round trip is the line's.
   */
  private boolean barge(Predicate<TransferableHold> wanted) {
    TransferableHold left = tenure.get();
    if (left == null || !wanted.test(left) || !mayBarge() || !permit.tryAcquire()) {
      return false;
    }
    if (!left.equals(tenure.get()) || !mayBarge()) { // somebody was quicker
      permit.release();
      return false;
    }
    barged();
    return true;
  }

  /**
   * Takes the permit if nobody has it. Past those who wait, only as often as {@link #barge} may; a
   * hold that was left for them comes with it.
   */
  boolean enterIfFree() {
    boolean past = permit.hasQueuedThreads();
    if ((past && !mayBarge()) || !permit.tryAcquire()) {
      return false;
    }
    if (past) {
      if (!mayBarge()) { // others were quicker
        permit.release();
        return false;
      }
      barged();
    }
    return true;
  }

  private void barged() {
    int before = overtaken;
    overtaken = before + 1;
  }

  private boolean mayBarge() {
    return overtaken < MOST_OVERTAKEN && clock.getAsLong() - movedNanos <= OVERTAKING_NANOS;
  }

  /** The same, without overtaking. */
  boolean enter(long nanos, boolean interruptible) throws InterruptedException {
    return enter(nanos, interruptible, left -> false);
  }

  /** The interrupt status stands again when this returns. */
  private boolean enterThroughInterrupts(long nanos) {
    long endNanos = System.nanoTime() + nanos;
    boolean interrupted = false;
    try {
      while (true) {
        try {
          return permit.tryAcquire(endNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  void release() {
    holder = null;
    permit.release();
  }

  // ---- a hold that passes on

  /** Twice as often as the last hold has passed on here, or a few times. */
  int expectedPasses() {
    return expectedPasses;
  }

  /** Leaves a hold for the next in line. Called with the permit, before it is passed on. */
  void offerHold(TransferableHold hold) {
    expectedPasses =
        (int) Math.max(FEWEST_PASSES, Math.min(Integer.MAX_VALUE, 2L * hold.reserve().passes()));
    tenure.set(hold);
  }

  /** What was left for the one who has the permit now. */
  @Nullable TransferableHold takeHold() {
    return tenure.get() == null ? null : tenure.getAndSet(null);
  }

  /**
   * What was left, if nobody is there to take it; to be released by the caller. Whoever passes a
   * hold on, and whoever leaves the line without the permit, has to look: if the last one in the
   * line gives up just when the hold is passed to it, one of the two sees that it lies there.
   */
  @Nullable TransferableHold takeUnclaimedHold() {
    if (tenure.get() == null || permit.hasQueuedThreads() || !permit.tryAcquire()) {
      return null;
    }
    TransferableHold orphan = takeHold();
    permit.release();
    return orphan;
  }

  /** Lets everybody through; they find the client closed. */
  void releaseAll(int permits) {
    permit.release(permits);
  }

  void setHolder(RedisLease lease) {
    holder = lease;
  }

  /** Whether a thread of this client holds the lock, so that there is no use in asking Redis. */
  boolean isHeldHere() {
    RedisLease lease = holder;
    return lease != null && lease.isLive();
  }

  /** Notes that Redis said: busy. */
  void wasBusy(long nowNanos) {
    busyNanos = nowNanos;
    busyHeard = true;
  }

  /** Whether somebody else has been seen to hold the lock since then. */
  boolean wasBusySince(long nanos) {
    return busyHeard && busyNanos - nanos >= 0;
  }

  /** Whether others stand in the line. */
  boolean hasWaiters() {
    return permit.hasQueuedThreads();
  }

  /** Notes how the last attempt went, for those who wait behind. */
  void recordAttempt(@Nullable CommandException fault, long nowNanos) {
    LocalQueue.Outage before = trouble;
    if (fault != null) {
      trouble =
          new LocalQueue.Outage(fault, before == null ? nowNanos : before.sinceNanos(), nowNanos);
    } else if (before != null) {
      trouble = null;
    }
  }

  LocalQueue.@Nullable Outage trouble() {
    return trouble;
  }
}
