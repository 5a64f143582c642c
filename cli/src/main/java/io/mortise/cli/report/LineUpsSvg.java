package io.mortise.cli.report;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.LineUp;
import io.mortise.cli.timeline.LineUps;
import java.util.List;

/**
 * Draws lines of threads side by side. Each has two columns, the order of requests and the order of
 * entries, and a line for each thread from its place in the one to its place in the other: where
 * two lines cross, a thread was overtaken.
 */
final class LineUpsSvg {
  private static final double WIDTH = 1000;
  private static final double GAP = 60;
  private static final double HEAD = 46;
  private static final double ROW = 20;
  private static final double NAMES = 106;
  private static final double PLACES = 60;
  private static final double DOT = 5;

  private final LineUps lineUps;

  LineUpsSvg(LineUps lineUps) {
    this.lineUps = lineUps;
  }

  void write(Markup out) {
    int longest = lineUps.sides().stream().mapToInt(side -> side.asked().size()).max().orElse(0);
    out.open(
        "svg",
        "class",
        "line-ups",
        "role",
        "img",
        "viewBox",
        "0 0 1000 " + Svg.number(HEAD + longest * ROW + 6));
    out.leaf("title", "From the order of asking to the order of coming in");
    int sides = lineUps.sides().size();
    double width = (WIDTH - GAP * (sides - 1)) / sides;
    for (int i = 0; i < sides; i++) {
      side(out, lineUps.sides().get(i), i * (width + GAP), width);
    }
    out.close();
  }

  private static void side(Markup out, LineUp lineUp, double left, double width) {
    double asked = left + NAMES;
    double came = left + width - PLACES;
    int overtaken = lineUp.overtaken();
    Svg.text(
        out,
        "heading",
        "start",
        left,
        14,
        "%s: %s of %d overtaken"
            .formatted(
                lineUp.name(), overtaken == 0 ? "none" : overtaken + "", lineUp.asked().size()));
    Svg.text(out, "number", "end", asked + DOT, 34, "asked as");
    Svg.text(out, "number", "start", came - DOT, 34, "came in");
    List<Integer> entered = lineUp.entered();
    int latest = -1;
    for (int place = 0; place < entered.size(); place++) {
      int as = entered.get(place);
      boolean late = as < latest;
      latest = Math.max(latest, as);
      Hold hold = lineUp.asked().get(as);
      String colour = Svg.colour(hold.worker());
      Svg.line(out, (late ? "link late " : "link ") + colour, asked, y(as), came, y(place))
          .leaf(
              "title",
              "worker %d, thread %d: asked as number %d, came in as number %d"
                  .formatted(hold.worker() + 1, hold.thread() + 1, as + 1, place + 1))
          .close();
      Svg.circle(out, colour, asked, y(as), DOT).close();
      Svg.circle(out, colour, came, y(place), DOT).close();
      Svg.text(
          out,
          "name",
          "end",
          asked - 12,
          y(as) + 4,
          "worker %d   %2d".formatted(hold.worker() + 1, as + 1));
      Svg.text(out, late ? "name late" : "name", "start", came + 12, y(place) + 4, "" + (as + 1));
    }
  }

  private static double y(int place) {
    return HEAD + (place + 0.5) * ROW;
  }
}
