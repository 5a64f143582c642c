package io.mortise.cli.text;

/** The meaning of a piece of text; with colours each meaning looks different. */
public enum Style {
  PLAIN(""),
  /** What a line is about. */
  NAME("1"),
  GOOD("32"),
  WARNING("33"),
  PROBLEM("31"),
  /** What belongs to another library. */
  FOREIGN("35"),
  /** What matters less: headings of columns, hints. */
  FAINT("2");

  private static final String ESCAPE = "\u001b[";

  private final String code;

  Style(String code) {
    this.code = code;
  }

  /** Returns the text in this style, or as it is without colours. */
  public String of(String text, boolean colours) {
    return colours && !code.isEmpty() && !text.isEmpty()
        ? ESCAPE + code + "m" + text + ESCAPE + "0m"
        : text;
  }
}
