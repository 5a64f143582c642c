package io.mortise.cli.report;

import io.mortise.cli.timeline.Mark;
import io.mortise.cli.worker.EventType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The label of a mark, on the first line of text where it covers no other.
 *
 * @param x where the text begins, or ends if it goes to the left
 * @param lane which line of text, from 0 at the top
 */
record MarkLabel(Mark mark, String text, double x, boolean toTheLeft, int lane) {
  private static final double CHARACTER = 6.4;
  private static final double PADDING = 10;
  private static final double DISTANCE = 3;

  /**
   * Places a label for the first mark of each type; the others have only a circle. Each mark has a
   * line from its label down: so of labels to the right the first is on top, and of those to the
   * left the last, and no line crosses a label.
   *
   * @param right where the drawing ends
   */
  static List<MarkLabel> place(List<Mark> marks, TimeScale scale, double right) {
    Set<EventType> seen = EnumSet.noneOf(EventType.class);
    List<Mark> first =
        marks.stream()
            .sorted(Comparator.comparingLong(Mark::atNanos))
            .filter(mark -> seen.add(mark.type()))
            .toList();
    List<MarkLabel> placed = new ArrayList<>();
    List<Mark> nearTheEnd = new ArrayList<>();
    for (Mark mark : first) {
      double x = scale.x(mark.atNanos());
      if (x + width(text(mark.type())) > right) {
        nearTheEnd.add(0, mark);
      } else {
        placed.add(place(mark, x, false, placed));
      }
    }
    nearTheEnd.forEach(mark -> placed.add(place(mark, scale.x(mark.atNanos()), true, placed)));
    return placed;
  }

  private static MarkLabel place(Mark mark, double x, boolean toTheLeft, List<MarkLabel> placed) {
    String text = text(mark.type());
    double at = toTheLeft ? x - DISTANCE : x + DISTANCE;
    int lane = 0;
    MarkLabel label = new MarkLabel(mark, text, at, toTheLeft, lane);
    while (placed.stream().anyMatch(label::covers)) {
      label = new MarkLabel(mark, text, at, toTheLeft, ++lane);
    }
    return label;
  }

  /** Returns about the width in the font of the page. */
  static double width(String text) {
    return text.length() * CHARACTER + PADDING;
  }

  private boolean covers(MarkLabel other) {
    return other.lane == lane && other.from() < to() && from() < other.to();
  }

  private double from() {
    return toTheLeft ? x - width(text) : x;
  }

  private double to() {
    return toTheLeft ? x : x + width(text);
  }

  private static String text(EventType type) {
    return switch (type) {
      case KILLED -> "killed";
      case PAUSED -> "paused";
      case WOKEN -> "runs again";
      case NOTIFIED -> "notified that its lease is lost";
      case REFUSED -> "late write refused";
      case TORN -> "torn read";
      case GAVE_UP -> "gave up while holding one lock";
      case IN_DOUBT -> "release not confirmed";
      case FAILED -> "an error";
    };
  }
}
