package io.mortise.cli.demo;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Timeline.Frame;
import java.time.Duration;
import java.util.List;

/** The part of an act that is drawn, short enough to show single holds. */
final class TimelineWindow {
  /** The duration of the part. */
  private static final Duration WINDOW = Duration.ofMillis(100);

  private TimelineWindow() {}

  /** Returns a part from the middle of the act, or all of a short one. */
  static Timeline of(ChapterRun run, String what) {
    return of(run, what, run.recording().holds(), WINDOW);
  }

  /**
   * The same.
   *
   * @param all the holds from which the act begins and ends
   * @param window the duration of the part
   */
  static Timeline of(ChapterRun run, String what, List<Hold> all, Duration window) {
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
        run.recording().holds(),
        run.recording().marks(),
        List.of(),
        run.settings().processes(),
        run.threads(),
        what + " " + part);
  }
}
