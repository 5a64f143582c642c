package io.mortise.cli.report;

import java.util.Locale;

/** The shapes of the drawings. */
final class Svg {
  /** The classes of colours for processes, {@code w0} to {@code w7}. */
  private static final int COLOURS = 8;

  private Svg() {}

  /** The class with the colour of a process. */
  static String colour(int worker) {
    return "w" + worker % COLOURS;
  }

  /** Begins a rectangle, which may get a title inside. */
  static Markup rect(Markup out, String style, double x, double y, double width, double height) {
    return out.open(
        "rect",
        "class",
        style,
        "x",
        number(x),
        "y",
        number(y),
        "width",
        number(width),
        "height",
        number(height));
  }

  /** Begins a circle, which may get a title inside. */
  static Markup circle(Markup out, String style, double x, double y, double radius) {
    return out.open(
        "circle", "class", style, "cx", number(x), "cy", number(y), "r", number(radius));
  }

  /** Begins a line, which may get a title inside. */
  static Markup line(Markup out, String style, double x1, double y1, double x2, double y2) {
    return out.open(
        "line",
        "class",
        style,
        "x1",
        number(x1),
        "y1",
        number(y1),
        "x2",
        number(x2),
        "y2",
        number(y2));
  }

  /**
   * A text, whole.
   *
   * @param anchor start, middle, or end: which of them is at x
   */
  static void text(Markup out, String style, String anchor, double x, double y, String words) {
    out.leaf("text", words, "class", style, "text-anchor", anchor, "x", number(x), "y", number(y));
  }

  /** Formats a number for an attribute. */
  static String number(double value) {
    return String.format(Locale.ROOT, "%.2f", value);
  }
}
