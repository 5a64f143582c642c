package io.mortise.core.internal.lease;

import org.jspecify.annotations.Nullable;

/**
 * The slot in the local queue of its client that a hold keeps. The thread that ends the hold gives
 * the slot up, exactly once, by {@link #release} or {@link #handOff}. If an error ends one of them,
 * {@link #release} may be called again, and {@link #completeHandOff} completes the other.
 *
 * <p><b>Threads.</b> Any thread may call any method; {@link LeaseSlot} makes sure that only one
 * thread gives the slot up.
 */
public interface QueueSlot {

  /** Returns whether another acquisition of this client waits for the end of the hold. */
  boolean hasWaiters();

  /** Gives the slot up without the hold: the next acquisition in the queue asks Redis. */
  void release();

  /**
   * Gives the slot up together with the hold, which goes to the next acquisition in the queue.
   *
   * @param beforeOffer runs before the next acquisition can take the hold. If an error comes first,
   *     the hold is still the caller's
   * @return the hold if the queue is empty: the caller then owns it and has to release it;
   *     otherwise null
   */
  @Nullable TransferableHold handOff(TransferableHold hold, Runnable beforeOffer);

  /**
   * Completes a hand-off that an error has ended, with or without an offer. May be called again
   * after an error.
   *
   * @return a hold that was offered and that nobody will take: the caller then owns it and has to
   *     release it; otherwise null
   */
  @Nullable TransferableHold completeHandOff();
}
