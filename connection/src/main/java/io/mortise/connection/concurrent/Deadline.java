package io.mortise.connection.concurrent;

import com.google.common.base.Ticker;

/**
 * The moment at which a wait ends, with the clock that measures it.
 *
 * <p>A client has one ticker. A deadline carries that ticker wherever it goes, so that no class can
 * compare it with the time of another clock. Between {@code core} and this module only durations
 * are passed, and moments that are documented as those of the client's ticker.
 *
 * <p>A thread that waits parks in real time, for as long as the deadline has left. With the ticker
 * of a test it looks at that ticker again only after it was woken up.
 *
 * @param atNanos the moment, as {@code ticker} reads it
 */
public record Deadline(long atNanos, Ticker ticker) {
  private static final long NANOS_PER_MILLI = 1_000_000;

  /** Returns the deadline at the given time from now. */
  public static Deadline after(long nanos, Ticker ticker) {
    return new Deadline(ticker.read() + nanos, ticker);
  }

  /** Returns the deadline at the given time from now, but at most this one. */
  public Deadline within(long nanos) {
    Deadline next = after(nanos, ticker);
    return next.atNanos - atNanos < 0 ? next : this;
  }

  /** Returns the time left; 0 or less when the deadline has passed. */
  public long leftNanos() {
    return atNanos - ticker.read();
  }

  public boolean hasPassed() {
    return leftNanos() <= 0;
  }

  /** Returns the time left for a socket: at least 1 ms, because 0 means no time-out. */
  public int leftMillis() {
    long left = leftNanos();
    long millis = left / NANOS_PER_MILLI + (left % NANOS_PER_MILLI > 0 ? 1 : 0);
    return (int) Math.max(1, Math.min(Integer.MAX_VALUE, millis));
  }
}
