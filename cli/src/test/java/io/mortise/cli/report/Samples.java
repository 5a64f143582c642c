package io.mortise.cli.report;

import io.mortise.cli.demo.ChapterReport;
import io.mortise.cli.demo.DemoReport;
import io.mortise.cli.demo.DemoSettings;
import io.mortise.cli.demo.Figure;
import io.mortise.cli.demo.Outcome;
import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Mark;
import io.mortise.cli.timeline.Span;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Timeline.Frame;
import io.mortise.cli.worker.Note;
import java.time.Duration;
import java.util.List;

/** A demo that was never played. */
final class Samples {
  static final long MILLI = 1_000_000;
  static final String EVIL = "<script>alert('x')</script> & \"more\" ]]>";

  private Samples() {}

  static Timeline timeline() {
    return new Timeline(
        new Frame(0, 100 * MILLI, 10 * MILLI, "the kill"),
        List.of(
            new Hold(0, 0, 5, 0, MILLI, 10 * MILLI),
            new Hold(1, 1, 6, 0, 60 * MILLI, 70 * MILLI),
            new Hold(1, 0, 7, 500 * MILLI, 600 * MILLI, 700 * MILLI)),
        List.of(
            new Mark(0, Mark.WHOLE_PROCESS, Note.KILLED, 10 * MILLI, EVIL),
            new Mark(1, 0, Note.TOLD, 98 * MILLI, "told"),
            new Mark(1, 0, Note.REFUSED, 99 * MILLI, "refused")),
        List.of(new Span(0, 0, "dead", 10 * MILLI, 60 * MILLI)),
        2,
        2,
        "All of it.");
  }

  static DemoReport report(boolean secondHolds) {
    return new DemoReport(
        "1.2.3",
        "Redis 6.2 at " + EVIL,
        new DemoSettings(2, 2, 20, 60, Duration.ofSeconds(2)),
        List.of(
            chapter("first", true, Figure.count("sold", "sold", 20)),
            chapter("second", secondHolds, Figure.millis("gapMillis", "next one in", 1_234_567))),
        Duration.ofMillis(4321));
  }

  private static ChapterReport chapter(String name, boolean ok, Figure figure) {
    Outcome outcome =
        new Outcome(
            ok,
            "Explained " + EVIL,
            List.of(figure, Figure.count("inner", "hidden", 7).aside()),
            List.of(timeline()));
    return new ChapterReport(
        name,
        "Title of " + name,
        "A story.",
        outcome,
        Duration.ofMillis(17),
        List.of("log " + EVIL));
  }
}
