package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.ClosingState;
import io.mortise.core.LockTuning;
import io.mortise.core.internal.lease.TransferableHold.TokenReserve;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The slot of one hold in the local queue, with the fencing tokens that are reserved for those to
 * whom the hold may be handed off.
 *
 * <p><b>Threads.</b> Slot and reserve are set by the acquiring thread, before the lease is
 * published. Then the thread that takes the slot from its reference gives it up, exactly once. If
 * an error interrupts it, a worker gives the slot up, by {@link #complete}.
 */
final class LeaseSlot {
  private final LockTuning tuning;
  private final Ticker ticker;
  private final ClosingState closing;

  /** The slot to give up when the hold ends. */
  private final AtomicReference<@Nullable QueueSlot> slot = new AtomicReference<>();

  private TokenReserve reserve = TokenReserve.NONE;

  /** The slot that is being left; only the thread that has taken it uses it. */
  private @Nullable QueueSlot leaving;

  LeaseSlot(LockTuning tuning, Ticker ticker, ClosingState closing) {
    this.tuning = tuning;
    this.ticker = ticker;
    this.closing = closing;
  }

  void set(QueueSlot taken) {
    slot.set(taken);
  }

  /** Reserves the tokens up to that one; the time of the hand-offs begins now. */
  void reserveTokensUntil(long lastToken) {
    reserveTokens(new TokenReserve(lastToken, ticker.read(), 0));
  }

  void reserveTokens(TokenReserve tokens) {
    reserve = tokens;
  }

  /** Gives the slot up, unless it was given up before. */
  void release() {
    QueueSlot taken = slot.getAndSet(null);
    if (taken != null) {
      leaving = taken;
      taken.release();
      leaving = null;
    }
  }

  /**
   * Returns whether another acquisition waits for the end of the hold, and the limits for the
   * number and time of hand-offs allow one more.
   */
  boolean mayHandOff(long token) {
    QueueSlot taken = slot.get();
    return taken != null
        && taken.hasWaiters()
        && token < reserve.lastToken()
        && reserve.handOffs() < tuning.maxHandOffs()
        && ticker.read() - reserve.sinceNanos() < tuning.maxHandOffTime().toNanos()
        && !closing.isClosed();
  }

  TokenReserve reserveAfterHandOff() {
    return reserve.next();
  }

  /** Takes the slot, to give it up by {@link #handOff}. Called by the releasing thread. */
  void detach() {
    leaving = slot.getAndSet(null); // while RELEASING no other thread takes it
  }

  /** Gives the detached slot up with the hold; see {@link QueueSlot#handOff}. */
  @Nullable TransferableHold handOff(TransferableHold hold) {
    QueueSlot taken = leaving;
    TransferableHold unclaimed = taken == null ? hold : taken.handOff(hold);
    leaving = null;
    return unclaimed;
  }

  /** Gives the slot up after an error, whatever step the error has interrupted. */
  void complete() {
    QueueSlot taken = leaving;
    if (taken != null) {
      taken.release();
      leaving = null;
    }
    release();
  }
}
