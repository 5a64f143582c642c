package io.mortise.connection.pool;

/** Converts deadlines by {@link System#nanoTime()} to the time-outs of sockets. */
public final class Deadlines {
  private Deadlines() {}

  /**
   * Returns the time until the deadline as the time-out of a socket: at least 1 ms, because 0 means
   * no time-out.
   */
  public static int millisUntil(long deadlineNanos) {
    long millis = (deadlineNanos - System.nanoTime() + 999_999) / 1_000_000;
    return (int) Math.min(Integer.MAX_VALUE, Math.max(1, millis));
  }
}
