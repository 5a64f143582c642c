package io.mortise.cli.text;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class LiveDisplayTest {
  private final StringWriter out = new StringWriter();

  private LiveDisplay display(boolean terminal, int rows) {
    return new LiveDisplay(new PrintWriter(out, true), terminal, rows);
  }

  @Test
  void withoutATerminalThereAreBlocksAndNoControlCharacters() {
    try (LiveDisplay display = display(false, 0)) {
      display.show(List.of("one", "two"));
      display.show(List.of("three"));
    }

    assertEquals(List.of("one", "two", "", "three"), out.toString().lines().toList());
  }

  @Test
  void aTerminalIsDrawnAgainFromItsFirstLineAndGetsItsCursorBack() {
    try (LiveDisplay display = display(true, 0)) {
      display.show(List.of("one", "two"));
      display.show(List.of("three"));
    }

    assertEquals(
        "\u001b[?25l\u001b[2J\u001b[Hone\u001b[K\ntwo\u001b[K\n\u001b[J"
            + "\u001b[Hthree\u001b[K\n\u001b[J"
            + "\u001b[?25h",
        out.toString());
  }

  @Test
  void moreLinesThanTheTerminalHasAreCountedAndDoNotScroll() {
    try (LiveDisplay display = display(true, 4)) {
      display.show(List.of("1", "2", "3", "4", "5"));
    }

    assertTrue(out.toString().contains("2\u001b[K\n... and 3 more lines"), out::toString);
    assertEquals(3, out.toString().chars().filter(c -> c == '\n').count());
    assertFalse(out.toString().contains("4"));
  }
}
