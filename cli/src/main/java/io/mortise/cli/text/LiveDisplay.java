package io.mortise.cli.text;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/**
 * Lines that are shown again and again: on a terminal in the same place, otherwise as blocks with a
 * blank line between them.
 *
 * <p><b>Threads.</b> Confined to one thread, except that {@code close} may run at the end of the
 * JVM beside it, as after Ctrl-C.
 */
public final class LiveDisplay implements AutoCloseable {
  /** The launcher says how many lines the terminal has; Java cannot find out. */
  private static final String ROWS_PROPERTY = "mortise.rows";

  private static final String HOME = "\u001b[H";
  private static final String CLEAR_SCREEN = "\u001b[2J";
  private static final String CLEAR_LINE = "\u001b[K";
  private static final String CLEAR_BELOW = "\u001b[J";
  private static final String HIDE_CURSOR = "\u001b[?25l";
  private static final String SHOW_CURSOR = "\u001b[?25h";

  private final PrintWriter out;
  private final boolean terminal;
  private final int rows;
  private final Thread atExit = new Thread(this::restore, "mortise-display");
  private boolean first = true;

  /** Creates a display; on a terminal it clears the screen with the first block. */
  public LiveDisplay(PrintWriter out, boolean terminal) {
    this(out, terminal, Integer.getInteger(ROWS_PROPERTY, 0));
  }

  LiveDisplay(PrintWriter out, boolean terminal, int rows) {
    this.out = out;
    this.terminal = terminal;
    this.rows = rows;
    if (terminal) {
      Runtime.getRuntime().addShutdownHook(atExit);
    }
  }

  /** Shows the lines in place of the last ones, as many as the terminal has. */
  public void show(List<String> lines) {
    if (!terminal) {
      if (!first) {
        out.println();
      }
      lines.forEach(out::println);
    } else {
      StringBuilder frame = new StringBuilder(first ? HIDE_CURSOR + CLEAR_SCREEN : "").append(HOME);
      fitting(lines).forEach(line -> frame.append(line).append(CLEAR_LINE).append('\n'));
      out.print(frame.append(CLEAR_BELOW)); // at once, so that nothing flickers
    }
    first = false;
    out.flush();
  }

  /** The last line of the terminal stays free: a line feed there would scroll. */
  private List<String> fitting(List<String> lines) {
    int most = rows - 1;
    if (rows < 3 || lines.size() <= most) {
      return lines;
    }
    List<String> shown = new ArrayList<>(lines.subList(0, most - 1));
    shown.add("... and %d more lines than the terminal has".formatted(lines.size() - most + 1));
    return shown;
  }

  private void restore() {
    out.print(SHOW_CURSOR);
    out.flush();
  }

  /** Gives the cursor back. */
  @Override
  public void close() {
    if (terminal) {
      restore();
      try {
        Runtime.getRuntime().removeShutdownHook(atExit);
      } catch (IllegalStateException atTheEnd) {
        // the JVM is ending, and restores it too
      }
    }
  }
}
