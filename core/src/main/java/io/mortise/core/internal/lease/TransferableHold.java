package io.mortise.core.internal.lease;

import io.mortise.core.spi.LeaseTerms;

/**
 * A hold in Redis that is handed from one thread of this client to the next in the local queue
 * without a command: the holder id stays, and the next holder gets the next reserved fencing token.
 *
 * <p>Only a hold without open questions is handed off: confirmed, renewed, and with time left; see
 * {@link LeaseSlot#mayHandOff} and {@link LeaseTiming#isCertain}. It is stored in the queue until
 * its next owner takes it, and belongs there to the acquisition with the queue's permit, which uses
 * it, hands it off, or releases it.
 *
 * @param holder the holder id, under which the hold is released in the end
 * @param deadlineNanos the time until which the hold is certain
 * @param nextRequestNanos when its renewal is due
 * @param leaseMillis the lease that a renewal asks for
 * @param token the last token that was given out
 * @param reserve the tokens that are left
 * @param epoch the client's epoch of the hold's last confirmation; if it has changed, something may
 *     have happened to the client's holds since then
 */
public record TransferableHold(
    String holder,
    long deadlineNanos,
    long nextRequestNanos,
    long leaseMillis,
    long token,
    TokenReserve reserve,
    long epoch) {

  /**
   * The tokens that were reserved for hand-offs, and the number of hand-offs so far.
   *
   * @param lastToken the last of the reserved tokens
   * @param sinceNanos when the hold was acquired from Redis
   * @param handOffs how often the hold has been handed off since then
   */
  public record TokenReserve(long lastToken, long sinceNanos, int handOffs) {
    /** No reserve: the hold is released in Redis. */
    public static final TokenReserve NONE = new TokenReserve(0, 0, 0);

    /** Returns the reserve after one more hand-off. */
    TokenReserve next() {
      return new TokenReserve(lastToken, sinceNanos, handOffs + 1);
    }
  }

  /**
   * Returns whether an acquisition with these terms may use the hold: it has more than a quarter of
   * the lease left, and the client's epoch is the same.
   */
  public boolean isUsable(LeaseTerms terms, long nowNanos, long currentEpoch) {
    return terms.renewed()
        && terms.leaseMillis() == leaseMillis
        && deadlineNanos - nowNanos > terms.leaseMillis() * 1_000_000 / 4
        && epoch == currentEpoch;
  }
}
