package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.core.LockTuning;
import io.mortise.core.internal.lease.TransferableHold.TokenReserve;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The slot of one hold in the local queue, with the fencing tokens that are reserved for those to
 * whom the hold may be handed off.
 *
 * <p><b>A pinned hold.</b> Example: thread A holds the write lock, and asks for the read lock below
 * it. Redis grants that while the hash has A's write hold. If A's hold went to thread B under the
 * same holder id meanwhile, A would read while B writes. So A's acquisition pins the write hold
 * before its first attempt is sent, and a hold that is pinned is released in Redis, whose scripts
 * then decide: the read hold came first, and stays as a downgrade, or it waits for its turn.
 *
 * <p>It is Dekker-style "publish, then look", because an attempt may be made for A by another
 * thread: the acquisition pins the hold, and then looks whether its release has begun. The release
 * begins, by a compare-and-set of {@link LeaseStateMachine}, and then looks whether the hold is
 * pinned. So either the acquisition knows that it has no write hold, or the hold is not handed off.
 * Both may be true, which costs a command. A pin is not taken back: an attempt without a reply may
 * arrive at any later time, and finds no such holder id once the hold is released.
 *
 * <p><b>Threads.</b> Any thread may pin the hold. Slot and reserve are set by the acquiring thread,
 * before the lease is published. Then the thread that takes the slot from its reference gives it
 * up, exactly once. If an error interrupts it, a worker gives the slot up, by {@link #complete}.
 */
final class LeaseSlot {
  // No AtomicReference: a client may keep a million holds.
  private static final AtomicReferenceFieldUpdater<LeaseSlot, @Nullable QueueSlot> SLOT =
      AtomicReferenceFieldUpdater.newUpdater(LeaseSlot.class, QueueSlot.class, "slot");

  private final LockTuning tuning;
  private final Ticker ticker;
  private final ClosingState closing;

  /** The slot to give up when the hold ends. */
  private volatile @Nullable QueueSlot slot;

  private TokenReserve reserve = TokenReserve.NONE;

  /** Whether the holder id must stay that of this hold. */
  private volatile boolean pinned;

  /** The slot that leaves with the hold; only the thread that has detached it uses it. */
  private @Nullable QueueSlot leaving;

  LeaseSlot(LockTuning tuning, Ticker ticker, ClosingState closing) {
    this.tuning = tuning;
    this.ticker = ticker;
    this.closing = closing;
  }

  void set(QueueSlot taken) {
    slot = taken;
  }

  /** Reserves the tokens up to that one; the time of the hand-offs begins now. */
  void reserveTokensUntil(long lastToken) {
    reserveTokens(new TokenReserve(lastToken, ticker.read(), 0));
  }

  void reserveTokens(TokenReserve tokens) {
    reserve = tokens;
  }

  /** Returns the last of the reserved tokens; -1 when there is none. */
  long lastReservedToken() {
    return reserve.equals(TokenReserve.NONE) ? -1 : reserve.lastToken();
  }

  /**
   * Keeps the hold from being handed off; returns false when its release has begun, or it is lost.
   *
   * @param live tests that, after the hold was pinned
   */
  boolean pin(BooleanSupplier live) {
    pinned = true;
    return live.getAsBoolean();
  }

  /** Gives the slot up, unless it was given up before. After an error the next call does it. */
  void release() {
    QueueSlot taken = SLOT.getAndSet(this, null);
    if (taken != null) {
      boolean released = false;
      try {
        taken.release();
        released = true;
      } finally {
        if (!released) {
          slot = taken; // no call: there may be no stack for one
        }
      }
    }
  }

  /**
   * Returns whether another acquisition waits for the end of the hold, the hold is not pinned, and
   * the limits for the number and time of hand-offs allow one more. Called by the releasing thread.
   */
  boolean mayHandOff(long token) {
    QueueSlot taken = slot;
    return taken != null
        && taken.hasWaiters()
        && !pinned
        && token < reserve.lastToken()
        && reserve.handOffs() < tuning.maxHandOffs()
        && ticker.read() - reserve.sinceNanos() < tuning.maxHandOffTime().toNanos()
        && !closing.isClosed();
  }

  /** Returns whether another thread of this client had the hold before. */
  boolean wasHandedOff() {
    return reserve.handOffs() > 0;
  }

  TokenReserve reserveAfterHandOff() {
    return reserve.next();
  }

  /** Takes the slot, to give it up by {@link #handOff}. Called by the releasing thread. */
  void detach() {
    leaving = SLOT.getAndSet(this, null); // while RELEASING no other thread takes it
  }

  /** Gives the detached slot up with the hold; see {@link QueueSlot#handOff}. */
  @Nullable TransferableHold handOff(TransferableHold hold, Runnable beforeOffer) {
    QueueSlot taken = leaving;
    TransferableHold unclaimed = taken == null ? hold : taken.handOff(hold, beforeOffer);
    leaving = null;
    return unclaimed;
  }

  /**
   * Gives the slot up after an error, whatever step the error has interrupted.
   *
   * @return a hold that was offered and that nobody will take; null when there is none
   */
  @Nullable TransferableHold complete() {
    QueueSlot taken = leaving;
    if (taken == null) {
      release();
      return null;
    }
    TransferableHold unclaimed = taken.completeHandOff();
    leaving = null;
    return unclaimed;
  }
}
