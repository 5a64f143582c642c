package io.mortise.connection.pool;

/** Deadlines by {@link System#nanoTime()}, as sockets want them. */
public final class Deadlines {
  private Deadlines() {}

  /**
   * Returns what is left until the deadline as the time-out of a socket: at least 1 ms, because 0
   * means that there is none.
   */
  public static int millisUntil(long deadlineNanos) {
    long millis = (deadlineNanos - System.nanoTime() + 999_999) / 1_000_000;
    return (int) Math.min(Integer.MAX_VALUE, Math.max(1, millis));
  }
}
