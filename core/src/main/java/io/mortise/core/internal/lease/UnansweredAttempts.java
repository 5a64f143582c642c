package io.mortise.core.internal.lease;

/**
 * The entries that one acquisition may have in Redis without a holder in this client.
 *
 * @param attempts the number of attempts without a reply: each of them may still create a hold
 * @param mayBeHeld whether there may be a hold, or a place in a queue, that nothing can create
 *     again: the first release that Redis answers ends it
 * @param untilNanos the end of the longest lease that any of these may have got
 */
public record UnansweredAttempts(int attempts, boolean mayBeHeld, long untilNanos) {
  public static final UnansweredAttempts NONE = new UnansweredAttempts(0, false, 0);

  public boolean exists() {
    return attempts > 0 || mayBeHeld;
  }

  /** Returns these and one more attempt without a reply. */
  public UnansweredAttempts plusAttempt(long untilNanos) {
    return plusAttempts(1, untilNanos);
  }

  /** Returns these and that number of attempts without a reply. */
  public UnansweredAttempts plusAttempts(int number, long untilNanos) {
    return number == 0
        ? this
        : new UnansweredAttempts(attempts + number, mayBeHeld, later(untilNanos));
  }

  /** Returns these and a hold, or a place in a queue. */
  public UnansweredAttempts plusHold(long untilNanos) {
    return new UnansweredAttempts(attempts, true, later(untilNanos));
  }

  /**
   * Returns what remains once Redis has granted a hold to the same acquisition: the release of that
   * hold also ends a hold, or a place in a queue, that was counted here.
   */
  public UnansweredAttempts afterGrant() {
    return attempts == 0 ? NONE : new UnansweredAttempts(attempts, false, untilNanos);
  }

  private long later(long nanos) {
    return exists() && untilNanos - nanos > 0 ? untilNanos : nanos;
  }
}
