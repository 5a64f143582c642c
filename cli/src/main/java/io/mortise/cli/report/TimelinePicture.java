package io.mortise.cli.report;

import io.mortise.cli.timeline.Timeline;

/**
 * A time line as a file of its own, with its styles. It has a background, so that it can be read on
 * a white page and on a dark one.
 */
public final class TimelinePicture {
  private static final double MARGIN = 14;
  private static final String FONTS =
      "font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif";

  private TimelinePicture() {}

  /**
   * Returns the picture.
   *
   * @param title of the chapter, for readers who cannot see it
   */
  public static String of(Timeline timeline, String title) {
    TimelineSvg drawing = new TimelineSvg(timeline, title);
    String width = Svg.number(TimelineSvg.WIDTH + 2 * MARGIN);
    String height = Svg.number(drawing.height() + 2 * MARGIN);
    String corner = Svg.number(-MARGIN);
    Markup out = new Markup();
    out.open(
        "svg",
        "xmlns",
        "http://www.w3.org/2000/svg",
        "role",
        "img",
        "width",
        width,
        "height",
        height,
        "viewBox",
        "%s %s %s %s".formatted(corner, corner, width, height),
        "style",
        FONTS);
    out.leaf("title", drawing.title());
    out.leaf("style", Styles.ofTimeline());
    out.empty(
        "rect",
        "x",
        corner,
        "y",
        corner,
        "width",
        width,
        "height",
        height,
        "rx",
        "6",
        "style",
        "fill:" + Styles.lightColour("paper"));
    out.open("g", "class", "timeline");
    drawing.draw(out);
    out.close().close();
    return out + "\n";
  }
}
