package io.mortise.cli.timeline;

import java.util.List;

/**
 * A drawing of holds over time.
 *
 * @param frame the part of the time
 * @param workers the number of processes
 * @param threads the number of threads of a process
 * @param lanes rows for other things than threads, below them
 * @param caption what the drawing shows, and which part of the whole
 */
public record Timeline(
    Frame frame,
    List<Hold> holds,
    List<Mark> marks,
    List<Span> spans,
    int workers,
    int threads,
    List<Lane> lanes,
    String caption)
    implements Drawing {

  /**
   * A part of the time.
   *
   * @param fromNanos the begin of the drawing
   * @param toNanos its end
   * @param zeroNanos the zero of its axis
   * @param zeroIs the event at zero
   */
  public record Frame(long fromNanos, long toNanos, long zeroNanos, String zeroIs) {
    boolean touches(long from, long to) {
      return to >= fromNanos && from <= toNanos;
    }
  }

  /** A time line without lanes. */
  public Timeline(
      Frame frame,
      List<Hold> holds,
      List<Mark> marks,
      List<Span> spans,
      int workers,
      int threads,
      String caption) {
    this(frame, holds, marks, spans, workers, threads, List.of(), caption);
  }

  /** Keeps only what touches the frame. */
  public Timeline {
    holds =
        holds.stream()
            .filter(hold -> frame.touches(hold.askedNanos(), hold.leftNanos()))
            .sorted(Hold.BY_ENTRY)
            .toList();
    marks = marks.stream().filter(mark -> frame.touches(mark.atNanos(), mark.atNanos())).toList();
    spans = spans.stream().filter(span -> frame.touches(span.fromNanos(), span.toNanos())).toList();
    Frame within = frame;
    lanes = lanes.stream().map(lane -> inside(within, lane)).toList();
  }

  private static Lane inside(Frame frame, Lane lane) {
    return new Lane(
        lane.name(),
        lane.holds().stream()
            .filter(hold -> frame.touches(hold.enteredNanos(), hold.leftNanos()))
            .toList(),
        lane.outages().stream()
            .filter(outage -> frame.touches(outage.fromNanos(), outage.toNanos()))
            .toList());
  }

  /** Returns the same time line with these spans. */
  public Timeline withSpans(List<Span> more) {
    return new Timeline(frame, holds, marks, more, workers, threads, lanes, caption);
  }

  /** Returns the same time line with these lanes. */
  public Timeline with(List<Lane> more) {
    return new Timeline(frame, holds, marks, spans, workers, threads, more, caption);
  }
}
