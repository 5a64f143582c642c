package io.mortise.cli.text;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

class TextTableTest {
  private static Cell plain(String text) {
    return Cell.plain(text);
  }

  @Test
  void cellsAreAlignedAndLinesAcrossAreNot() {
    TextTable table =
        new TextTable()
            .row(plain("A"), plain("LONG HEADING"), plain("C"))
            .across(plain("a line that is longer than any column"), plain("more"))
            .row(plain("  value"), plain("b"), plain("c"));

    assertEquals(
        List.of(
            "A        LONG HEADING  C",
            "a line that is longer than any column  more",
            "  value  b             c"),
        table.lines(false));
  }

  @Test
  void coloursDoNotCountForTheWidthAndNoLineEndsWithBlanks() {
    TextTable table =
        new TextTable()
            .row(new Cell("ab", Style.GOOD), plain(""), plain(""))
            .row(plain("abcd"), new Cell("x", Style.PROBLEM), plain(""));

    assertEquals(List.of("ab", "abcd  x"), table.lines(false));
    assertEquals(List.of("\u001b[32mab\u001b[0m", "abcd  \u001b[31mx\u001b[0m"), table.lines(true));
  }

  @Test
  void aNameInRedisDoesNotSteerTheTerminal() {
    assertEquals("evil?[2J?name", plain("evil\u001b[2J\nname").text());
  }

  @Test
  void aCellIsCutVisibly() {
    assertEquals("a-long-h..", plain("a-long-host-name").atMost(10).text());
    assertEquals("short", plain("short").atMost(10).text());
  }
}
