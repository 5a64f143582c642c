package io.mortise.core.spi;

/** What came of one attempt to acquire. */
public sealed interface Attempt {

  /**
   * The lock is held.
   *
   * @param fencingToken the token of this hold
   */
  record Acquired(long fencingToken) implements Attempt {}

  /**
   * Somebody else holds the lock, and this acquisition left nothing in Redis.
   *
   * @param remainingMillis after that time another attempt makes sense, also without a wake-up;
   *     {@link #UNKNOWN} when Redis sets no end
   */
  record Busy(long remainingMillis) implements Attempt {}

  /**
   * Somebody else is first, and this acquisition stands in a queue in Redis, which it must leave
   * when it gives up.
   *
   * @param retryMillis after that time another attempt makes sense, also without a wake-up; {@link
   *     #UNKNOWN} when Redis sets no end
   */
  record Queued(long retryMillis) implements Attempt {}

  /** No time is known. */
  long UNKNOWN = -1;
}
