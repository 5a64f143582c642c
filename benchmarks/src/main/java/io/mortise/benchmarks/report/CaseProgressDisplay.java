package io.mortise.benchmarks.report;

import java.io.PrintWriter;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * The progress of a case on standard error: a bar on a terminal, otherwise a line for each case.
 */
public final class CaseProgressDisplay {
  /** The launcher says whether standard error is a terminal; Java 17 cannot find out. */
  private static final String TERMINAL_PROPERTY = "mortise.terminal";

  private static final int WIDTH = 90;
  private static final int NAME_WIDTH = 14;
  private static final int UPDATE_MILLIS = 200;

  private CaseProgressDisplay() {}

  /** Begins to show a case. */
  public static CaseProgress of(String name, PrintWriter err) {
    return Boolean.getBoolean(TERMINAL_PROPERTY) ? new Bar(name, err) : new Line(name, err);
  }

  /**
   * A bar on a terminal.
   *
   * <p><b>Threads.</b> Confined to the thread that runs the case. The library draws on a thread of
   * its own: the monitors of its state and of the writer order the two.
   */
  private static final class Bar implements CaseProgress {
    private final PrintWriter err;
    private final ProgressBar bar;

    Bar(String name, PrintWriter err) {
      this.err = err;
      bar =
          new ProgressBarBuilder()
              .setTaskName(("%-" + NAME_WIDTH + "s").formatted(name))
              .setStyle(ProgressBarStyle.ASCII)
              .setUpdateIntervalMillis(UPDATE_MILLIS)
              .setMaxRenderedLength(WIDTH)
              .setConsumer(new DelegatingProgressBarConsumer(this::draw, WIDTH))
              .build();
    }

    /** Writes the bar over itself. */
    private void draw(String rendered) {
      err.print('\r' + rendered);
      err.flush();
    }

    @Override
    public void expect(long turns) {
      bar.maxHint(turns);
    }

    @Override
    public void turn(String what) {
      bar.setExtraMessage(" " + what);
    }

    @Override
    public void done() {
      bar.step();
    }

    @Override
    public void close() {
      bar.setExtraMessage("");
      bar.close();
      err.println();
      err.flush();
    }
  }

  private record Line(String name, PrintWriter err) implements CaseProgress {
    @Override
    public void expect(long turns) {
      err.printf("%s: %d turns ...%n", name, turns);
      err.flush();
    }

    @Override
    public void turn(String what) {}

    @Override
    public void done() {}

    @Override
    public void close() {}
  }
}
