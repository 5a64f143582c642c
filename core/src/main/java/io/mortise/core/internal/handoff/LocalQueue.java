package io.mortise.core.internal.handoff;

import com.google.common.primitives.Ints;
import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.internal.lease.RedisLease;
import io.mortise.core.internal.lease.TransferableHold;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The queue in which the acquisitions of one client wait for one lock. The first one sends commands
 * to Redis, and keeps the permit for as long as it holds the lock; then the next one gets it.
 *
 * <pre>
 *    holder A        B         C           fair queue of the semaphore
 *   [ permit ] <- [waits] <- [waits]
 *        |
 *        | A ends its hold: offerHold, then the permit is released
 *        v
 *   [offered hold] --> B takes it with the permit; D, which just arrives, may barge
 * </pre>
 *
 * <p>Only a hold that is handed off may be taken before the acquisitions that wait (<i>barging</i>,
 * as in {@link java.util.concurrent.locks.AbstractQueuedSynchronizer}), within bounds: see {@link
 * #barge}.
 *
 * <p><b>Threads.</b> Any thread may call any method. The permit belongs to an acquisition, not to a
 * thread: a lease may be closed by any thread, or be lost, and its permit is released exactly once,
 * by {@link QueueTicket} or {@link LocalQueueSlot}. An error between the semaphore and the
 * acquisition, such as an {@link OutOfMemoryError}, releases it here. A stack that overflows inside
 * {@link Semaphore#release} may have it released twice: then only the order here suffers. Fields
 * "written with the permit" have one writer at a time; they are volatile for the readers without
 * it. The observations change by compare-and-set, because a waiter without the permit may record a
 * reply too. The offered hold belongs to the owner of the permit; {@link #takeUnclaimedHold} takes
 * the one that has no owner. One atomic step takes it, so only one thread has it.
 */
public final class LocalQueue {
  /** The maximum number of barging acquisitions in a row. */
  static final int MAX_BARGES = 8;

  /**
   * The time after the queue last moved in which barging is allowed: about the wake-up of a thread.
   */
  static final long BARGE_WINDOW_NANOS = 50_000;

  /** The expected number of hand-offs in a queue without history. */
  static final int MIN_EXPECTED_HAND_OFFS = 16;

  // No AtomicReference: each held lock has a queue, and a client may hold a million.
  private static final AtomicReferenceFieldUpdater<LocalQueue, @Nullable TransferableHold>
      OFFERED_HOLD =
          AtomicReferenceFieldUpdater.newUpdater(
              LocalQueue.class, TransferableHold.class, "offeredHold");
  private static final AtomicReferenceFieldUpdater<LocalQueue, LockObservations> OBSERVATIONS =
      AtomicReferenceFieldUpdater.newUpdater(
          LocalQueue.class, LockObservations.class, "observations");

  private final LongSupplier clock;
  private final Semaphore permit = new Semaphore(1, true);

  /**
   * The number of acquisitions and holds that use this queue; guarded by the map of {@link
   * LocalQueues}.
   */
  int users;

  /** The hold that keeps the permit; null while an acquisition that still tries has it. */
  private volatile @Nullable RedisLease holder;

  /**
   * A hold that is being handed off: it belongs to the owner of the permit, and is stored here
   * until its next owner takes it.
   */
  private volatile @Nullable TransferableHold offeredHold;

  /** The number of barging acquisitions since the queue last moved; written with the permit. */
  private volatile int bargeCount;

  /** When the queue last moved; written with the permit. */
  private volatile long lastMovedNanos;

  /** How often a hold is likely to be handed off here; written with the permit. */
  private volatile int expectedHandOffs = MIN_EXPECTED_HAND_OFFS;

  private volatile LockObservations observations = LockObservations.NONE;

  /**
   * Creates a queue with a free permit.
   *
   * @param clock limits barging
   */
  LocalQueue(LongSupplier clock) {
    this.clock = clock;
  }

  /**
   * Waits for the permit; a wait that is not interruptible keeps its place in the queue through
   * interrupts.
   *
   * @param acceptable tests whether this acquisition could use a hold that is handed off, see
   *     {@link #barge}
   */
  boolean enter(long nanos, boolean interruptible, Predicate<TransferableHold> acceptable)
      throws InterruptedException {
    if (nanos <= 0) {
      return enterIfFree();
    }
    if (barge(acceptable)) {
      return true;
    }
    if (!awaitPermit(nanos, interruptible)) {
      return false;
    }
    try {
      bargeCount = 0;
      lastMovedNanos = clock.getAsLong();
      return true;
    } catch (Throwable e) {
      permit.release();
      throw e;
    }
  }

  private boolean awaitPermit(long nanos, boolean interruptible) throws InterruptedException {
    if (interruptible) {
      return permit.tryAcquire(nanos, TimeUnit.NANOSECONDS);
    }
    if (nanos == Long.MAX_VALUE) {
      permit.acquireUninterruptibly();
      return true;
    }
    return Uninterruptibles.tryAcquireUninterruptibly(permit, nanos, TimeUnit.NANOSECONDS);
  }

  /**
   * Takes the permit with a hold that was just handed off, before the first waiter has woken up to
   * take it (<i>barging</i>): a running thread needs no context switch for it.
   *
   * <p>Example: thread A hands its hold off to B, which is parked. Thread D arrives before B runs,
   * and takes the hold. After {@link #MAX_BARGES} acquisitions like D in a row, or {@link
   * #BARGE_WINDOW_NANOS}, the queue moves. The rule: the first waiter waits for at most {@link
   * #MAX_BARGES} holds of others once it could have had the permit, {@code tryLock()} without a
   * wait included. If Redis has to be asked, no waiting acquisition barges: the queue has the time
   * of a round trip to move.
   */
  private boolean barge(Predicate<TransferableHold> acceptable) {
    TransferableHold offered = offeredHold;
    if (offered == null || !acceptable.test(offered) || !mayBarge() || !permit.tryAcquire()) {
      return false;
    }
    return keepPermitToBarge(offered);
  }

  /**
   * Looks again with the permit, and releases it if another thread was faster. Compares by
   * identity, because the {@code equals} of a record takes memory and stack at its first call.
   *
   * @param expected the hold that has to be offered still; null for any or none
   */
  @SuppressWarnings("ReferenceEquality")
  private boolean keepPermitToBarge(@Nullable TransferableHold expected) {
    boolean kept = false;
    try {
      if ((expected == null || expected == offeredHold) && mayBarge()) {
        int before = bargeCount;
        bargeCount = before + 1;
        kept = true;
      }
      return kept;
    } finally {
      if (!kept) {
        permit.release();
      }
    }
  }

  /**
   * Takes the permit if it is free. Passes waiters only as often as {@link #barge} may; the hold
   * that was handed off to them comes with the permit.
   */
  boolean enterIfFree() {
    boolean barging = permit.hasQueuedThreads();
    if ((barging && !mayBarge()) || !permit.tryAcquire()) {
      return false;
    }
    return !barging || keepPermitToBarge(null);
  }

  private boolean mayBarge() {
    return bargeCount < MAX_BARGES && clock.getAsLong() - lastMovedNanos <= BARGE_WINDOW_NANOS;
  }

  /** Waits for the permit without barging. */
  boolean enter(long nanos, boolean interruptible) throws InterruptedException {
    return enter(nanos, interruptible, offered -> false);
  }

  void release() {
    holder = null;
    permit.release();
  }

  // ---- a hold that is handed off

  /**
   * Returns twice the number of hand-offs of the last hold here, at least {@link
   * #MIN_EXPECTED_HAND_OFFS}.
   */
  int expectedHandOffs() {
    return expectedHandOffs;
  }

  /**
   * Offers a hold to the next owner of the permit. Called with the permit, before it is released.
   */
  void offerHold(TransferableHold hold) {
    offerHold(hold, () -> {});
  }

  /** The same; {@code beforeOffer} runs last: after it the hold is offered, whatever happens. */
  void offerHold(TransferableHold hold, Runnable beforeOffer) {
    expectedHandOffs =
        Ints.saturatedCast(Math.max(MIN_EXPECTED_HAND_OFFS, 2L * hold.reserve().handOffs()));
    beforeOffer.run();
    offeredHold = hold; // no call between the two, for which there might be no stack
  }

  /** Takes the hold that was offered; null when there is none, or another thread has it. */
  @Nullable TransferableHold takeHold() {
    return offeredHold == null ? null : OFFERED_HOLD.getAndSet(this, null);
  }

  /**
   * Takes the offered hold if no acquisition is left to take it; the caller has to release it.
   *
   * <p>This is Dekker-style "publish, then look". Example: thread A hands its hold off while thread
   * B, the last waiter, gives up. A offers the hold and releases the permit, then looks for
   * waiters. B leaves the queue, then looks for an offered hold. If A still sees B waiting, then B
   * sees the hold. The rule: an acquisition that hands a hold off, and one that leaves the queue
   * without the permit, both have to call this.
   *
   * <p>It does not take the permit: there might be no stack to release it. An acquisition that gets
   * the permit at this moment has the hold, or asks Redis.
   */
  @Nullable TransferableHold takeUnclaimedHold() {
    return offeredHold == null || permit.hasQueuedThreads() || permit.availablePermits() == 0
        ? null
        : takeHold();
  }

  /** Lets all waiters enter; they find the client closed. */
  void releaseAll(int permits) {
    permit.release(permits);
  }

  void setHolder(RedisLease lease) {
    holder = lease;
  }

  /**
   * Returns whether a valid hold of this client has the permit, so that asking Redis is of no use.
   */
  boolean isHeldHere() {
    RedisLease lease = holder;
    return lease != null && lease.isLive();
  }

  /** Returns what the acquisitions of this queue have last learned from Redis. */
  LockObservations observations() {
    return observations;
  }

  /** Records that Redis said: busy. */
  void recordBusy(long nowNanos) {
    var unused = OBSERVATIONS.updateAndGet(this, before -> before.busy(nowNanos));
  }

  /** Records the outcome of the last attempt; the fault is null when it was answered. */
  void recordAttempt(@Nullable CommandException fault, long nowNanos) {
    if (fault != null || observations.faults() != null) {
      var unused = OBSERVATIONS.updateAndGet(this, before -> before.attempted(fault, nowNanos));
    }
  }

  /** Returns about how many acquisitions wait for the permit. */
  int waiters() {
    return permit.getQueueLength();
  }

  /** Returns whether acquisitions wait for the permit. */
  boolean hasWaiters() {
    return permit.hasQueuedThreads();
  }
}
