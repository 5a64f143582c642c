package io.mortise.cli.demo;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Timeline.Frame;
import java.time.Duration;
import java.util.List;

/** What of an act can be drawn so that single holds are to be seen. */
final class TimelineWindow {
  /** The longest stretch in which they are. */
  private static final Duration WINDOW = Duration.ofMillis(100);

  private TimelineWindow() {}

  /** A part from the middle of the act, or all of a short one. */
  static Timeline of(ChapterRun stage, String what) {
    return of(stage, what, stage.recording().holds(), WINDOW);
  }

  /**
   * The same.
   *
   * @param all what says when the act began and ended
   * @param window the length of the part
   */
  static Timeline of(ChapterRun stage, String what, List<Hold> all, Duration window) {
    long start = all.stream().mapToLong(Hold::askedNanos).min().orElse(0);
    long end = all.stream().mapToLong(Hold::leftNanos).max().orElse(start);
    long from = start;
    long to = end;
    String part = "All of it.";
    if (end - start > window.toNanos()) {
      from = Math.min(start + (end - start) / 3, end - window.toNanos());
      to = from + window.toNanos();
      part =
          "%d ms of %d ms, from the middle."
              .formatted(window.toMillis(), Duration.ofNanos(end - start).toMillis());
    }
    return new Timeline(
        new Frame(from, to, start, "the start"),
        stage.recording().holds(),
        stage.recording().marks(),
        List.of(),
        stage.settings().processes(),
        stage.threads(),
        what + " " + part);
  }
}
