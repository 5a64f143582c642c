package io.mortise.connection.concurrent;

import java.util.function.DoubleSupplier;

/**
 * Exponential back-off with jitter: callers that failed together do not try again together.
 *
 * <p><b>Threads.</b> Not thread-safe: one thread at a time uses an instance.
 */
public final class Backoff {
  private static final int MAX_DOUBLINGS = 20;

  private final long firstNanos;
  private final long maxNanos;
  private final DoubleSupplier random;
  private int failures;

  /**
   * @param random returns values from 0 inclusive to 1 exclusive
   */
  public Backoff(long firstNanos, long maxNanos, DoubleSupplier random) {
    this.firstNanos = firstNanos;
    this.maxNanos = maxNanos;
    this.random = random;
  }

  /** Returns the next pause: between half and all of a time that doubles up to the maximum. */
  public long nextNanos() {
    return pauseNanos(firstNanos, maxNanos, failures++, random.getAsDouble());
  }

  /** Returns the pause after that many failures; the random number is from 0 to below 1. */
  public static long pauseNanos(long firstNanos, long maxNanos, int failures, double random) {
    long fullNanos = Math.min(maxNanos, firstNanos << Math.min(failures, MAX_DOUBLINGS));
    return (long) (fullNanos * (0.5 + random / 2));
  }

  public void reset() {
    failures = 0;
  }
}
