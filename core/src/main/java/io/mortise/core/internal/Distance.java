package io.mortise.core.internal;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * How far away a server is: the shortest time in which the answers of one of the last trips came,
 * without what it may take to give them. Longer times tell how busy it is, or this process.
 *
 * <p>Safe for any thread. What is noted while others are, may count for one stretch or the next.
 */
final class Distance {
  /** So many times, or twice that, are the last ones. */
  static final int STRETCH = 128;

  /** For each command: about what it costs, client and server together. */
  static final long SERVICE_NANOS = 20_000;

  private final AtomicInteger noted = new AtomicInteger();
  private final AtomicLong shortest = new AtomicLong(Long.MAX_VALUE);
  private volatile long shortestBefore = Long.MAX_VALUE;

  /**
   * @param tripNanos from the first command until the last answer
   */
  void note(long tripNanos, int commands) {
    long nanos = Math.max(0, tripNanos - commands * SERVICE_NANOS);
    if (nanos < shortest.get()) {
      shortest.accumulateAndGet(nanos, Math::min);
    }
    if (noted.incrementAndGet() % STRETCH == 0) {
      shortestBefore = shortest.getAndSet(Long.MAX_VALUE);
    }
  }

  /** 0 when nothing is known yet. */
  long nanos() {
    long nanos = Math.min(shortest.get(), shortestBefore);
    return nanos == Long.MAX_VALUE ? 0 : nanos;
  }
}
