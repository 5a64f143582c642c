package io.mortise.cli.report;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Lane;
import io.mortise.cli.timeline.Outage;
import java.util.List;

/** Draws the lanes of a time line: the holds of accounts, the outages of servers. */
final class LanesSvg {
  private static final double HEIGHT = 16;
  private static final double GAP = 3;
  private static final double THINNEST_BAR = 1;

  private final List<Lane> lanes;
  private final TimeScale scale;
  private final double left;
  private final double right;
  private final double top;
  private final double rowsTop;

  /**
   * Lanes from {@code top} on.
   *
   * @param rowsTop the top of the lines that show when a server was killed or restarted
   */
  LanesSvg(
      List<Lane> lanes, TimeScale scale, double left, double right, double rowsTop, double top) {
    this.lanes = lanes;
    this.scale = scale;
    this.left = left;
    this.right = right;
    this.rowsTop = rowsTop;
    this.top = top;
  }

  /** Returns the bottom of the lanes. */
  double bottom() {
    return rowTop(lanes.size()) - GAP;
  }

  void write(Markup out) {
    for (int i = 0; i < lanes.size(); i++) {
      Lane lane = lanes.get(i);
      double y = rowTop(i);
      Svg.rect(out, "group", left, y, right - left, HEIGHT).close();
      Svg.text(out, "name", "end", left - 8, y + HEIGHT / 2 + 4, lane.name());
      lane.holds().forEach(hold -> hold(out, lane, hold, y));
      lane.outages().forEach(outage -> outage(out, lane, outage, y));
    }
  }

  private double rowTop(int lane) {
    return top + lane * (HEIGHT + GAP);
  }

  private void hold(Markup out, Lane lane, Hold hold, double y) {
    double from = scale.x(hold.enteredNanos());
    double width = Math.max(THINNEST_BAR, scale.x(hold.leftNanos()) - from);
    Svg.rect(out, "kept " + Svg.colour(hold.worker()), from, y + 1, width, HEIGHT - 2)
        .leaf(
            "title",
            "%s: of worker %d, thread %d, from %.1f to %.1f ms"
                .formatted(
                    lane.name(),
                    hold.worker() + 1,
                    hold.thread() + 1,
                    scale.millis(hold.enteredNanos()),
                    scale.millis(hold.leftNanos())))
        .close();
  }

  private void edge(Markup out, long nanos, double bottom) {
    double x = scale.x(nanos);
    if (x > left && x < right) {
      Svg.line(out, "edge", x, rowsTop, x, bottom).close();
    }
  }

  private void outage(Markup out, Lane lane, Outage outage, double y) {
    double from = scale.x(outage.fromNanos());
    double to = scale.x(outage.toNanos());
    String text =
        "dead: %d ms".formatted(Math.round((outage.toNanos() - outage.fromNanos()) / 1e6));
    Svg.rect(out, "outage", from, y, to - from, HEIGHT)
        .leaf(
            "title",
            "%s is dead from %.1f to %.1f ms"
                .formatted(
                    lane.name(), scale.millis(outage.fromNanos()), scale.millis(outage.toNanos())))
        .close();
    edge(out, outage.fromNanos(), y);
    edge(out, outage.toNanos(), y);
    if (to - from > MarkLabel.width(text)) {
      Svg.text(out, "inside-span", "middle", (from + to) / 2, y + HEIGHT / 2 + 3.7, text);
    }
  }
}
