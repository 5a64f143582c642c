package io.mortise.cli.report;

import io.mortise.cli.timeline.Timeline.Frame;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Maps times to places in a drawing. */
final class TimeScale {
  private static final double NANOS_PER_MILLI = 1e6;
  private static final int MOST_TICKS = 11;

  /** A place on the axis with its label. */
  record Tick(double x, String label) {}

  private final Frame frame;
  private final double left;
  private final double width;

  TimeScale(Frame frame, double left, double width) {
    this.frame = frame;
    this.left = left;
    this.width = width;
  }

  /** Returns the place of a time; a time outside the frame is at its edge. */
  double x(long nanos) {
    long inside = Math.max(frame.fromNanos(), Math.min(frame.toNanos(), nanos));
    return left + width * (inside - frame.fromNanos()) / lengthNanos();
  }

  /** Returns the time in ms from the zero of the axis. */
  double millis(long nanos) {
    return (nanos - frame.zeroNanos()) / NANOS_PER_MILLI;
  }

  /** Returns ticks at round numbers, at most {@link #MOST_TICKS}. */
  List<Tick> ticks() {
    double step = step(lengthNanos() / NANOS_PER_MILLI / MOST_TICKS);
    List<Tick> ticks = new ArrayList<>();
    long first = (long) Math.ceil(millis(frame.fromNanos()) / step);
    long last = (long) Math.floor(millis(frame.toNanos()) / step);
    for (long i = first; i <= last; i++) {
      double millis = i * step;
      long nanos = frame.zeroNanos() + Math.round(millis * NANOS_PER_MILLI);
      String label =
          step < 1 ? String.format(Locale.ROOT, "%.1f", millis) : Long.toString(Math.round(millis));
      ticks.add(new Tick(x(nanos), label));
    }
    return ticks;
  }

  /** The next of 1, 2, 5, 10, 20, 50 ... */
  private static double step(double least) {
    double power = Math.pow(10, Math.floor(Math.log10(Math.max(least, 0.1))));
    for (double factor : new double[] {1, 2, 5}) {
      if (factor * power >= least) {
        return factor * power;
      }
    }
    return 10 * power;
  }

  private long lengthNanos() {
    return Math.max(1, frame.toNanos() - frame.fromNanos());
  }
}
