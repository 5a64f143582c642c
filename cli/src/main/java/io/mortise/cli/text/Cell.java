package io.mortise.cli.text;

/**
 * A piece of a line.
 *
 * @param text one line, which is shown without control characters
 */
public record Cell(String text, Style style) {

  /** Replaces control and format characters: what is in Redis must not steer the terminal. */
  public Cell {
    text = printable(text);
  }

  /** Returns a cell that looks like ordinary text. */
  public static Cell plain(String text) {
    return new Cell(text, Style.PLAIN);
  }

  /**
   * Returns the text without characters that steer a terminal: control characters, those that turn
   * the direction of writing, and separators of lines.
   */
  public static String printable(String text) {
    return text.codePoints().noneMatch(Cell::steers)
        ? text
        : text.codePoints()
            .map(c -> steers(c) ? '?' : c)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
  }

  private static boolean steers(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          true;
      default -> false;
    };
  }

  /** Returns the cell with at most so many characters. */
  public Cell atMost(int characters) {
    return text.length() <= characters
        ? this
        : new Cell(text.substring(0, characters - 2) + "..", style);
  }
}
