package io.mortise.connection.concurrent;

import java.util.function.DoubleSupplier;

/** Growing pauses with jitter, so that those who failed together do not come back together. */
public final class Backoff {
  private static final int MOST_DOUBLINGS = 20;

  private final long firstNanos;
  private final long mostNanos;
  private final DoubleSupplier random;
  private int failures;

  /**
   * @param random from 0 to below 1
   */
  public Backoff(long firstNanos, long mostNanos, DoubleSupplier random) {
    this.firstNanos = firstNanos;
    this.mostNanos = mostNanos;
    this.random = random;
  }

  /** The next pause: between half of, and the whole of, a time that doubles up to the most. */
  public long nextNanos() {
    long whole = Math.min(mostNanos, firstNanos << Math.min(failures, MOST_DOUBLINGS));
    failures++;
    return (long) (whole * (0.5 + random.getAsDouble() / 2));
  }

  public void reset() {
    failures = 0;
  }
}
