package io.mortise.cli.report;

import io.mortise.cli.demo.Progress;
import java.io.PrintWriter;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * Shows the progress of a chapter on standard error: a bar on a terminal, otherwise a line at its
 * begin, so that a log file has no control characters.
 */
public final class ConsoleProgress {
  /** The launcher says whether standard error is a terminal; Java 17 cannot find out. */
  public static final String TERMINAL_PROPERTY = "mortise.terminal";

  private static final int WIDTH = 78;
  private static final int NAME_WIDTH = 18;
  private static final int UPDATE_MILLIS = 100;

  private ConsoleProgress() {}

  /**
   * Begins to show a chapter.
   *
   * @param expected about the number of holds
   * @param log whether to show what the workers log
   */
  public static Progress of(String title, long expected, boolean log, PrintWriter err) {
    return Boolean.getBoolean(TERMINAL_PROPERTY)
        ? new Bar(title, expected, log, err)
        : new Line(title, log, err);
  }

  /**
   * A bar on a terminal.
   *
   * <p><b>Threads.</b> Confined to the thread that runs the chapter. The library draws on a thread
   * of its own: the monitors of its state and of the writer order the two.
   */
  private static final class Bar implements Progress {
    private final ProgressBar bar;
    private final boolean log;
    private final PrintWriter err;

    Bar(String title, long expected, boolean log, PrintWriter err) {
      this.log = log;
      this.err = err;
      bar =
          new ProgressBarBuilder()
              .setTaskName(("%-" + NAME_WIDTH + "s").formatted(title))
              .setInitialMax(expected)
              .setStyle(ProgressBarStyle.ASCII)
              .setUpdateIntervalMillis(UPDATE_MILLIS)
              .setMaxRenderedLength(WIDTH)
              .hideEta()
              .setConsumer(new DelegatingProgressBarConsumer(this::draw, WIDTH))
              .build();
    }

    /** Writes the bar over itself. */
    private void draw(String rendered) {
      err.print('\r' + rendered);
      err.flush();
    }

    @Override
    public void to(long served) {
      bar.maxHint(Math.max(bar.getMax(), served)).stepTo(served);
    }

    @Override
    public void say(String what) {
      bar.setExtraMessage(" " + what);
    }

    @Override
    public void log(String line) {
      if (log) {
        err.printf("\r%-" + WIDTH + "s%n", line); // the bar is drawn again below
        err.flush();
      }
    }

    @Override
    public void close() {
      bar.setExtraMessage("");
      bar.close();
      err.println();
      err.flush();
    }
  }

  private record Line(String title, boolean log, PrintWriter err) implements Progress {
    Line {
      err.println(title + " ...");
      err.flush();
    }

    @Override
    public void to(long served) {}

    @Override
    public void say(String what) {}

    @Override
    public void log(String line) {
      if (log) {
        err.println(line);
        err.flush();
      }
    }

    @Override
    public void close() {}
  }
}
