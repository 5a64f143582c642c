package io.mortise.cli.report;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Mark;
import io.mortise.cli.timeline.Overlaps;
import io.mortise.cli.timeline.Overlaps.Stretch;
import io.mortise.cli.timeline.Span;
import io.mortise.cli.timeline.Timeline;
import java.util.List;
import java.util.Locale;

/**
 * The drawing of a chapter, from top to bottom: the labels of the marks; a row for each thread, in
 * groups by process, with a bar for each hold and a thin line for each wait; the lanes of other
 * things; the number of threads inside at each moment; the axis.
 */
final class TimelineSvg {
  static final double WIDTH = 1000;
  private static final double LEFT = 84;
  private static final double RIGHT = 14;
  private static final double LANE = 16;
  private static final double GROUP_GAP = 7;
  private static final double CROWD_HEIGHT = 26;
  private static final double AXIS_HEIGHT = 34;
  private static final double THINNEST_BAR = 1.5;

  /** With more threads than that, a process has one row. */
  private static final int MOST_ROWS = 40;

  private final Timeline timeline;
  private final String title;
  private final TimeScale scale;
  private final boolean readersAndWriters;
  private final boolean rowPerThread;
  private final double rowHeight;
  private final List<MarkLabel> labels;
  private final double rowsTop;
  private final double rowsBottom;
  private final LanesSvg lanes;
  private final double lanesBottom;

  TimelineSvg(Timeline timeline, String title) {
    this.timeline = timeline;
    this.title = title;
    scale = new TimeScale(timeline.frame(), LEFT, WIDTH - LEFT - RIGHT);
    readersAndWriters = timeline.holds().stream().anyMatch(Hold::isShared);
    rowPerThread = timeline.workers() * timeline.threads() <= MOST_ROWS;
    rowHeight = rowPerThread ? 12 : 18;
    labels = MarkLabel.place(timeline.marks(), scale, WIDTH - RIGHT);
    int labelLanes = labels.stream().mapToInt(label -> label.lane() + 1).max().orElse(0);
    rowsTop = labelLanes * LANE + 4;
    rowsBottom = rowsTop + timeline.workers() * (groupHeight() + GROUP_GAP) - GROUP_GAP;
    lanes =
        new LanesSvg(timeline.lanes(), scale, LEFT, WIDTH - RIGHT, rowsTop, rowsBottom + GROUP_GAP);
    lanesBottom = timeline.lanes().isEmpty() ? rowsBottom : lanes.bottom();
  }

  /** Writes it as an element of a page, which has the styles. */
  void write(Markup out) {
    out.open(
        "svg", "class", "timeline", "role", "img", "viewBox", "0 0 1000 " + Svg.number(height()));
    out.leaf("title", title());
    draw(out);
    out.close();
  }

  String title() {
    return title + ": who held the lock when";
  }

  double height() {
    return lanesBottom + GROUP_GAP + CROWD_HEIGHT + AXIS_HEIGHT;
  }

  /** Writes the shapes, from (0, 0) to ({@link #WIDTH}, {@link #height()}). */
  void draw(Markup out) {
    axis(out);
    groups(out);
    timeline.holds().forEach(hold -> wait(out, hold));
    // A writer covers readers that share its row.
    timeline.holds().stream().filter(Hold::isShared).forEach(hold -> hold(out, hold));
    timeline.holds().stream().filter(hold -> !hold.isShared()).forEach(hold -> hold(out, hold));
    timeline.spans().forEach(span -> span(out, span));
    lanes.write(out);
    marks(out);
    crowd(out);
  }

  private void groups(Markup out) {
    for (int worker = 0; worker < timeline.workers(); worker++) {
      double top = rowTop(worker, 0);
      Svg.rect(out, "group", LEFT, top, WIDTH - LEFT - RIGHT, groupHeight()).close();
      Svg.text(out, "name", "end", LEFT - 8, top + groupHeight() / 2 + 4, "worker " + (worker + 1));
    }
  }

  private void wait(Markup out, Hold hold) {
    double from = scale.x(hold.askedNanos());
    double width = scale.x(hold.enteredNanos()) - from;
    if (width > THINNEST_BAR) {
      double y = rowTop(hold.worker(), hold.thread()) + rowHeight / 2 - 0.5;
      Svg.rect(out, "wait " + Svg.colour(hold.worker()), from, y, width, 1).close();
    }
  }

  private void hold(Markup out, Hold hold) {
    if (hold.leftNanos() < timeline.frame().fromNanos()
        || hold.enteredNanos() > timeline.frame().toNanos()) {
      return;
    }
    double from = scale.x(hold.enteredNanos());
    double width = Math.max(THINNEST_BAR, scale.x(hold.leftNanos()) - from);
    Svg.rect(out, style(hold), from, rowTop(hold.worker(), hold.thread()) + 1, width, rowHeight - 2)
        .leaf("title", describe(hold))
        .close();
  }

  /** Returns the style of a hold; beside shared holds an exclusive one is a writer. */
  private String style(Hold hold) {
    return hold.isShared()
        ? "hold shared " + Svg.colour(hold.worker())
        : readersAndWriters ? "hold writer" : "hold " + Svg.colour(hold.worker());
  }

  private String describe(Hold hold) {
    return "worker %d, thread %d: inside from %.1f to %.1f ms%s"
        .formatted(
            hold.worker() + 1,
            hold.thread() + 1,
            scale.millis(hold.enteredNanos()),
            scale.millis(hold.leftNanos()),
            hold.token() == 0
                ? ""
                : ", after %.1f ms of waiting; fencing token %d"
                    .formatted(hold.waitedNanos() / 1e6, hold.token()));
  }

  private void span(Markup out, Span span) {
    double from = scale.x(span.fromNanos());
    double to = scale.x(span.toNanos());
    double top = rowTop(span.worker(), span.thread());
    String text =
        "%s: %d ms".formatted(span.label(), Math.round((span.toNanos() - span.fromNanos()) / 1e6));
    Svg.rect(out, "span", from, top + 0.5, to - from, rowHeight - 1).leaf("title", text).close();
    if (to - from > MarkLabel.width(text)) {
      Svg.text(out, "inside-span", "middle", (from + to) / 2, top + rowHeight / 2 + 3.7, text);
    }
  }

  private void marks(Markup out) {
    for (MarkLabel label : labels) {
      double y = (label.lane() + 1) * LANE - 4;
      out.open("g", "class", "mark");
      double x = scale.x(label.mark().atNanos());
      Svg.line(out, "", x, y - 9, x, rowsBottom).close();
      Svg.text(out, "label", label.toTheLeft() ? "end" : "start", label.x(), y, label.text());
      out.close();
    }
    for (Mark mark : timeline.marks()) {
      double x = scale.x(mark.atNanos());
      int thread = mark.thread() == Mark.WHOLE_PROCESS ? threadInside(mark) : mark.thread();
      out.open("g", "class", "mark " + mark.type().name().toLowerCase(Locale.ROOT));
      out.leaf("title", "%s; at %.1f ms".formatted(mark.detail(), scale.millis(mark.atNanos())));
      Svg.circle(out, "dot", x, rowTop(mark.worker(), thread) + rowHeight / 2, 4).close();
      out.close();
    }
  }

  /** A mark of a whole process goes to the thread that was inside. */
  private int threadInside(Mark mark) {
    return timeline.spans().stream()
        .filter(span -> span.worker() == mark.worker())
        .mapToInt(Span::thread)
        .findFirst()
        .orElse(0);
  }

  private void crowd(Markup out) {
    List<Stretch> stretches = Overlaps.stretches(timeline.holds());
    int most = stretches.stream().mapToInt(Stretch::inside).max().orElse(1);
    double bottom = lanesBottom + GROUP_GAP + CROWD_HEIGHT;
    Svg.text(out, "name", "end", LEFT - 8, bottom - CROWD_HEIGHT / 2 - 2, "inside");
    Svg.text(out, "number", "end", LEFT - 8, bottom - 1, most > 1 ? "up to " + most : "1");
    for (Stretch stretch : stretches) {
      double from = scale.x(stretch.fromNanos());
      double width = scale.x(stretch.toNanos()) - from;
      double height = CROWD_HEIGHT * stretch.inside() / Math.max(2, most);
      if (width > 0) {
        Svg.rect(
                out,
                stretch.clashes() ? "crowd" : stretch.inside() > 1 ? "together" : "alone",
                from,
                bottom - height,
                Math.max(0.4, width),
                height)
            .leaf("title", stretch.inside() + " inside")
            .close();
      }
    }
  }

  private void axis(Markup out) {
    double bottom = lanesBottom + GROUP_GAP + CROWD_HEIGHT;
    for (TimeScale.Tick tick : scale.ticks()) {
      out.open("g", "class", "tick");
      Svg.line(out, "", tick.x(), rowsTop, tick.x(), bottom + 4).close();
      Svg.text(out, "number", "middle", tick.x(), bottom + 16, tick.label());
      out.close();
    }
    Svg.text(
        out, "number", "end", WIDTH - RIGHT, bottom + 30, "ms since " + timeline.frame().zeroIs());
  }

  private double groupHeight() {
    return rowPerThread ? timeline.threads() * rowHeight : rowHeight;
  }

  private double rowTop(int worker, int thread) {
    return rowsTop + worker * (groupHeight() + GROUP_GAP) + (rowPerThread ? thread * rowHeight : 0);
  }
}
