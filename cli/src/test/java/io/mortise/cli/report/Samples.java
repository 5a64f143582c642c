package io.mortise.cli.report;

import io.mortise.cli.demo.ChapterReport;
import io.mortise.cli.demo.DemoReport;
import io.mortise.cli.demo.DemoSettings;
import io.mortise.cli.demo.Metric;
import io.mortise.cli.demo.Outcome;
import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Lane;
import io.mortise.cli.timeline.LineUp;
import io.mortise.cli.timeline.LineUps;
import io.mortise.cli.timeline.Mark;
import io.mortise.cli.timeline.Outage;
import io.mortise.cli.timeline.Span;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Timeline.Frame;
import io.mortise.cli.worker.EventType;
import io.mortise.testkit.HoldLog.Mode;
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
            new Mark(0, Mark.WHOLE_PROCESS, EventType.KILLED, 10 * MILLI, EVIL),
            new Mark(1, 0, EventType.NOTIFIED, 98 * MILLI, "notified"),
            new Mark(1, 0, EventType.REFUSED, 99 * MILLI, "refused")),
        List.of(new Span(0, 0, "dead", 10 * MILLI, 60 * MILLI)),
        2,
        2,
        "All of it.");
  }

  /** Of 100 ms: one was held in them, the other was away from 70 ms on. */
  static List<Lane> lanes() {
    return List.of(
        Lane.ofHolds(
            "account " + EVIL,
            List.of(
                new Hold(0, 0, 0, MILLI, MILLI, 10 * MILLI),
                new Hold(0, 0, 0, 200 * MILLI, 200 * MILLI, 210 * MILLI))),
        Lane.ofOutages("server 1", List.of(new Outage(0, 70 * MILLI, 170 * MILLI))));
  }

  /** In the second one the last that asked came in first. */
  static LineUps lineUps() {
    List<Hold> inOrder =
        List.of(
            new Hold(0, 0, 1, 0, MILLI, 2 * MILLI),
            new Hold(1, 0, 2, 0, 2 * MILLI, 3 * MILLI),
            new Hold(0, 1, 3, 0, 3 * MILLI, 4 * MILLI));
    List<Hold> turned =
        List.of(
            new Hold(0, 0, 2, 0, 2 * MILLI, 3 * MILLI),
            new Hold(1, 0, 3, 0, 3 * MILLI, 4 * MILLI),
            new Hold(0, 1, 1, 0, MILLI, 2 * MILLI));
    return new LineUps(
        List.of(new LineUp("fair", inOrder), new LineUp(EVIL, turned)), "Two of them " + EVIL);
  }

  /** Two read together, and then one writes. */
  static Timeline readersAndWriter() {
    return new Timeline(
        new Frame(0, 100 * MILLI, 0, "the start"),
        List.of(
            new Hold(0, 0, Mode.SHARED, 0, 0, MILLI, 40 * MILLI),
            new Hold(1, 0, Mode.SHARED, 0, 0, 20 * MILLI, 50 * MILLI),
            new Hold(0, 1, 1, 0, 60 * MILLI, 70 * MILLI)),
        List.of(),
        List.of(),
        2,
        2,
        "Readers.");
  }

  static DemoReport report(boolean secondHolds) {
    return new DemoReport(
        "1.2.3",
        "Redis 6.2 at " + EVIL,
        new DemoSettings(2, 2, 20, 60, Duration.ofSeconds(2)),
        List.of(
            chapter("first", true, Metric.count("sold", "sold", 20)),
            chapter("second", secondHolds, Metric.millis("gapMillis", "next one in", 1_234_567))),
        Duration.ofMillis(4321));
  }

  /** A demo of one chapter with these figures. */
  static DemoReport reportOf(List<Metric> figures) {
    Outcome outcome = new Outcome(true, "Explained.", figures, List.of());
    return new DemoReport(
        "1.2.3",
        "Redis 6.2",
        new DemoSettings(2, 2, 20, 60, Duration.ofSeconds(2)),
        List.of(
            new ChapterReport(
                "first", "Title of first", "A story.", outcome, Duration.ZERO, List.of())),
        Duration.ZERO);
  }

  private static ChapterReport chapter(String name, boolean ok, Metric figure) {
    Outcome outcome =
        new Outcome(
            ok,
            "Explained " + EVIL,
            List.of(figure, Metric.count("inner", "hidden", 7).aside()),
            List.of(lineUps(), timeline().with(lanes())));
    return new ChapterReport(
        name,
        "Title of " + name,
        "A story.",
        outcome,
        Duration.ofMillis(17),
        List.of("log " + EVIL));
  }
}
