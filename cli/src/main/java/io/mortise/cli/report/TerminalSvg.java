package io.mortise.cli.report;

import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A picture of what a command has printed on a terminal, with its colours. */
public final class TerminalSvg {
  private static final double CHARACTER = 7.8;
  private static final double LINE = 18;
  private static final double MARGIN = 14;

  /** What steers a terminal: colours, which end with m, and the rest, which has no picture. */
  private static final Pattern ESCAPE = Pattern.compile("\u001b\\[([?0-9;]*)([A-Za-z])");

  /** The looks of the codes of {@code text.Style}. */
  private static final Map<String, String> LOOKS =
      Map.of(
          "1", "fill:#ffffff;font-weight:bold",
          "2", "fill:#8b949e",
          "31", "fill:#ff7b72",
          "32", "fill:#7ee787",
          "33", "fill:#e3b341",
          "35", "fill:#d2a8ff");

  private final Markup out = new Markup();

  private TerminalSvg() {}

  /**
   * Returns the picture.
   *
   * @param title for readers who cannot see it
   * @param command what was typed
   * @param lines what was printed
   */
  public static String of(String title, String command, List<String> lines) {
    TerminalSvg svg = new TerminalSvg();
    svg.write(title, command, lines);
    return svg.out + "\n";
  }

  private void write(String title, String command, List<String> lines) {
    int columns =
        lines.stream()
            .map(line -> ESCAPE.matcher(line).replaceAll(""))
            .mapToInt(String::length)
            .max()
            .orElse(0);
    double width = 2 * MARGIN + CHARACTER * Math.max(columns, command.length() + 2);
    double height = 2 * MARGIN + LINE * (lines.size() + 1);
    out.open(
        "svg",
        "xmlns",
        "http://www.w3.org/2000/svg",
        "role",
        "img",
        "width",
        Svg.number(width),
        "height",
        Svg.number(height),
        "viewBox",
        "0 0 %s %s".formatted(Svg.number(width), Svg.number(height)),
        "style",
        "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
            + "font-size:13px;fill:#c9d1d9;white-space:pre");
    out.leaf("title", title);
    out.empty(
        "rect",
        "width",
        Svg.number(width),
        "height",
        Svg.number(height),
        "rx",
        "6",
        "style",
        "fill:#0d1117");
    piece("$ ", "2", 0, 0);
    piece(command, "1", 2, 0);
    for (int i = 0; i < lines.size(); i++) {
      line(lines.get(i), i + 1);
    }
    out.close();
  }

  private void line(String line, int row) {
    Matcher escape = ESCAPE.matcher(line);
    String code = "0";
    int column = 0;
    int from = 0;
    while (escape.find()) {
      String text = line.substring(from, escape.start());
      piece(text, code, column, row);
      column += text.length();
      from = escape.end();
      code = escape.group(2).equals("m") ? escape.group(1) : code;
    }
    piece(line.substring(from), code, column, row);
  }

  /** Writes each word at its column, so that columns are aligned in every font. */
  private void piece(String text, String code, int column, int row) {
    Matcher word = Pattern.compile("\\S+(?: \\S+)*").matcher(text);
    while (word.find()) {
      double x = MARGIN + CHARACTER * (column + word.start());
      double length = CHARACTER * word.group().length();
      out.leaf(
          "text",
          word.group(),
          "x",
          Svg.number(x),
          "y",
          Svg.number(MARGIN + LINE * row + 13),
          "textLength",
          Svg.number(length),
          "style",
          LOOKS.getOrDefault(code, ""));
    }
  }
}
