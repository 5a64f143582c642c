package io.mortise.cli.timeline;

import java.util.List;

/**
 * Who was inside when.
 *
 * @param frame which part of the time
 * @param workers how many processes there are
 * @param threads how many threads a process has
 * @param lanes rows for other things than threads, below them
 * @param caption what is to be seen, and which part of the whole it is
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
   * @param fromNanos where the picture begins
   * @param toNanos where it ends
   * @param zeroNanos the zero of its axis
   * @param zeroIs what happened then
   */
  public record Frame(long fromNanos, long toNanos, long zeroNanos, String zeroIs) {
    boolean touches(long from, long to) {
      return to >= fromNanos && from <= toNanos;
    }
  }

  /** One of threads only. */
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

  /** Keeps what touches the frame. */
  public Timeline {
    holds =
        holds.stream()
            .filter(hold -> frame.touches(hold.askedNanos(), hold.leftNanos()))
            .sorted(Hold.BY_ENTRY)
            .toList();
    marks = marks.stream().filter(mark -> frame.touches(mark.atNanos(), mark.atNanos())).toList();
    spans = spans.stream().filter(span -> frame.touches(span.fromNanos(), span.toNanos())).toList();
    Frame within = frame;
    lanes = lanes.stream().map(lane -> lane.within(within)).toList();
  }

  /** The same, with these states of threads. */
  public Timeline withSpans(List<Span> more) {
    return new Timeline(frame, holds, marks, more, workers, threads, lanes, caption);
  }

  /** The same, with these rows below those of the threads. */
  public Timeline with(List<Lane> more) {
    return new Timeline(frame, holds, marks, spans, workers, threads, more, caption);
  }
}
