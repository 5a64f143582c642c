package io.mortise.core.internal.lease;

/**
 * What one acquisition may have in Redis although nobody holds it.
 *
 * @param attempts how many attempts have no answer: each of them may still make a hold
 * @param held whether there may be a hold, or a place in a queue, that nothing can make again: the
 *     first release that Redis answers ends it
 * @param untilNanos when the longest lease that any of these may have been given has run out
 */
public record UnansweredAttempts(int attempts, boolean held, long untilNanos) {
  public static final UnansweredAttempts NONE = new UnansweredAttempts(0, false, 0);

  public boolean exists() {
    return attempts > 0 || held;
  }

  /** One attempt more that has no answer. */
  public UnansweredAttempts another(long untilNanos) {
    return new UnansweredAttempts(attempts + 1, held, latest(untilNanos));
  }

  /** And a hold, or a place in a queue. */
  public UnansweredAttempts held(long untilNanos) {
    return new UnansweredAttempts(attempts, true, latest(untilNanos));
  }

  /**
   * The same beside a hold that Redis has granted since: its release ends whatever else it ends.
   */
  public UnansweredAttempts granted() {
    return attempts == 0 ? NONE : new UnansweredAttempts(attempts, false, untilNanos);
  }

  private long latest(long nanos) {
    return exists() && untilNanos - nanos > 0 ? untilNanos : nanos;
  }
}
