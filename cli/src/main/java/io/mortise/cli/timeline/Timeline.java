package io.mortise.cli.timeline;

import java.util.List;

/**
 * Who was inside when.
 *
 * @param frame which part of the time
 * @param workers how many processes there are
 * @param threads how many threads a process has
 * @param caption what is to be seen, and which part of the whole it is
 */
public record Timeline(
    Frame frame,
    List<Hold> holds,
    List<Mark> marks,
    List<Span> spans,
    int workers,
    int threads,
    String caption)
    implements Picture {

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

  /** Keeps what touches the frame. */
  public Timeline {
    holds =
        holds.stream()
            .filter(hold -> frame.touches(hold.askedNanos(), hold.leftNanos()))
            .sorted(Hold.BY_ENTRY)
            .toList();
    marks = marks.stream().filter(mark -> frame.touches(mark.atNanos(), mark.atNanos())).toList();
    spans = spans.stream().filter(span -> frame.touches(span.fromNanos(), span.toNanos())).toList();
  }
}
