package io.mortise.cli.text;

import java.util.ArrayList;
import java.util.List;

/**
 * Lines of cells that are aligned under each other, and lines across all columns between them.
 *
 * <p><b>Threads.</b> Confined to one thread.
 */
public final class TextTable {
  private static final String GAP = "  ";

  private final List<Line> lines = new ArrayList<>();

  /** A line, aligned or not. */
  private record Line(List<Cell> cells, boolean aligned) {}

  /** Adds a line whose cells are columns. */
  public TextTable row(Cell... cells) {
    lines.add(new Line(List.of(cells), true));
    return this;
  }

  /** Adds a line whose cells follow each other, whatever is above and below. */
  public TextTable across(Cell... cells) {
    lines.add(new Line(List.of(cells), false));
    return this;
  }

  /** Returns the lines. */
  public List<String> lines(boolean colours) {
    int[] widths = widths();
    return lines.stream().map(line -> render(line, widths, colours)).toList();
  }

  private int[] widths() {
    int columns =
        lines.stream().filter(Line::aligned).mapToInt(line -> line.cells().size()).max().orElse(0);
    int[] widths = new int[columns];
    for (Line line : lines) {
      for (int i = 0; line.aligned() && i < line.cells().size(); i++) {
        widths[i] = Math.max(widths[i], length(line.cells().get(i)));
      }
    }
    return widths;
  }

  private static int length(Cell cell) {
    return cell.text().codePointCount(0, cell.text().length());
  }

  private static String render(Line line, int[] widths, boolean colours) {
    StringBuilder text = new StringBuilder();
    int pending = 0; // blanks, which are written before the next text only
    for (int i = 0; i < line.cells().size(); i++) {
      Cell cell = line.cells().get(i);
      if (!cell.text().isEmpty()) {
        text.append(" ".repeat(pending)).append(cell.style().of(cell.text(), colours));
        pending = 0;
      }
      pending += GAP.length() + (line.aligned() ? widths[i] - length(cell) : 0);
    }
    return text.toString();
  }
}
