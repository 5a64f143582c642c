package io.mortise.core.internal.lease;

import io.mortise.core.spi.LeaseTerms;

/**
 * A hold in Redis that passes from one thread of this client to the next in line, without a word to
 * Redis: the same holder id, the next of the tokens that were reserved with it.
 *
 * <p>Only what is beyond doubt passes: confirmed, renewed, and with time left; see {@link
 * LeaseTermination}. Whoever has the gate's permit has the tenure that lies in the gate, and uses
 * it, passes it on, or releases it.
 *
 * @param holder the holder id, under which it is released in the end
 * @param deadlineNanos until when it is sure
 * @param askNanos when its renewal is due
 * @param leaseMillis with what it is renewed
 * @param token the last token that was given out
 * @param reserve what is left to give
 * @param epoch of the engine when it was passed on: another one means that something may have
 *     happened to the holds of this client since then
 */
public record TransferableHold(
    String holder,
    long deadlineNanos,
    long askNanos,
    long leaseMillis,
    long token,
    TokenReserve reserve,
    long epoch) {

  /**
   * What a hold may be passed on with.
   *
   * @param lastToken the last of the tokens that were reserved with it
   * @param sinceNanos when it was acquired from Redis
   * @param passes how often it has passed on since then
   */
  public record TokenReserve(long lastToken, long sinceNanos, int passes) {
    /** Nothing: it goes back to Redis. */
    public static final TokenReserve NONE = new TokenReserve(0, 0, 0);

    TokenReserve next() {
      return new TokenReserve(lastToken, sinceNanos, passes + 1);
    }
  }

  /** Whether it is what those terms ask for, and lasts for a while. */
  public boolean satisfies(LeaseTerms terms, long nowNanos) {
    return terms.renewed()
        && terms.leaseMillis() == leaseMillis
        && deadlineNanos - nowNanos > terms.leaseMillis() * 1_000_000 / 4;
  }
}
