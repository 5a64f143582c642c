package io.mortise.core.spi;

import java.util.List;
import java.util.OptionalLong;

/** The result of one attempt to acquire a lock. */
public sealed interface AcquireResult {

  /**
   * The lock is held.
   *
   * @param fencingToken the token of this hold
   * @param lastToken the last token before it that Redis remembered; 0 when it remembered none
   */
  record Acquired(long fencingToken, long lastToken) implements AcquireResult {

    /** Reads a reply of 1, the token, and the last token before it. */
    public static Acquired of(List<?> reply) {
      return new Acquired((Long) reply.get(1), (Long) reply.get(2));
    }
  }

  /**
   * Another holder has the lock, and this acquisition left nothing in Redis.
   *
   * @param retryMillis the time after which another attempt is useful even without a message; empty
   *     when the hold has no end in Redis
   */
  record Busy(OptionalLong retryMillis) implements AcquireResult {}

  /**
   * Another waiter is first, and this acquisition has a place in a queue in Redis, which it must
   * leave when it gives up.
   *
   * @param retryMillis the time after which another attempt is useful even without a message; empty
   *     when Redis sets no end
   * @param redissonHolds whether a client of Redisson holds the lock, whose release notifies only
   *     {@link LockProtocol#channel}
   */
  record Queued(OptionalLong retryMillis, boolean redissonHolds) implements AcquireResult {

    /** Creates the result behind a holder of ours, or behind another waiter. */
    public Queued(OptionalLong retryMillis) {
      this(retryMillis, false);
    }
  }

  /**
   * Nobody can acquire the lock, and waiting is of no use: the acquisition ends without a hold. It
   * left nothing in Redis. A family with this result offers no wait without an end: {@code lock()}
   * would throw an {@link AssertionError}.
   */
  record Unavailable() implements AcquireResult {}
}
