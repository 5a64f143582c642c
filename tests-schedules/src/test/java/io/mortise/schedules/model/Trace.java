package io.mortise.schedules.model;

/** The events of a sequence, with their virtual times, for the message of a failure. */
final class Trace {
  private static final long MILLI = 1_000_000L;

  private final long beganNanos = System.nanoTime();
  private final StringBuilder lines = new StringBuilder();
  private int number;

  /** Notes a call, or an event. */
  void note(String what) {
    lines.append("%3d: after %d ms, %s%n".formatted(++number, millis(System.nanoTime()), what));
  }

  /** Notes how an acquisition has ended. */
  void noteEnd(Actor actor, Verdict verdict, long atNanos) {
    lines.append("       %s: %s after %d ms%n".formatted(actor, verdict, millis(atNanos)));
  }

  private long millis(long nanos) {
    return (nanos - beganNanos) / MILLI;
  }

  @Override
  public String toString() {
    return lines.toString();
  }
}
