package io.mortise.core.spi;

import java.util.List;

/** What came of one attempt to acquire. */
public sealed interface AcquireResult {

  /**
   * The lock is held.
   *
   * @param fencingToken the token of this hold
   * @param lastToken the last one before it that Redis remembered; 0 when it remembered none
   */
  record Acquired(long fencingToken, long lastToken) implements AcquireResult {

    /** Reads an answer of 1, the token, and the last one before it. */
    public static Acquired of(List<?> answer) {
      return new Acquired((Long) answer.get(1), (Long) answer.get(2));
    }
  }

  /**
   * Somebody else holds the lock, and this acquisition left nothing in Redis.
   *
   * @param remainingMillis after that time another attempt makes sense, also without a wake-up;
   *     {@link #UNKNOWN} when Redis sets no end
   */
  record Busy(long remainingMillis) implements AcquireResult {}

  /**
   * Somebody else is first, and this acquisition stands in a queue in Redis, which it must leave
   * when it gives up.
   *
   * @param retryMillis after that time another attempt makes sense, also without a wake-up; {@link
   *     #UNKNOWN} when Redis sets no end
   */
  record Queued(long retryMillis) implements AcquireResult {}

  /** No time is known. */
  long UNKNOWN = -1;
}
