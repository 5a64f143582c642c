package io.mortise.it.support;

import java.io.PrintStream;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

/** Records the warnings that any test logs in this JVM. They are printed as well. */
public final class LoggedWarnings {
  private static final List<String> LINES = new CopyOnWriteArrayList<>();

  static {
    System.setErr(new Recorder(System.err));
  }

  private LoggedWarnings() {}

  /** Starts recording. */
  public static void note() {}

  /** Returns the warnings since {@link #note} that contain the text. */
  public static List<String> about(String text) {
    return LINES.stream().filter(line -> line.contains(text)).toList();
  }

  /** The logger writes a line with one call. */
  private static final class Recorder extends PrintStream {
    Recorder(PrintStream to) {
      super(to, true);
    }

    @Override
    public void println(String line) {
      if (Objects.requireNonNullElse(line, "").contains(" WARN ")) {
        LINES.add(line);
      }
      super.println(line);
    }
  }
}
