package io.mortise.it.support;

import java.io.PrintStream;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

/** The warnings that are logged in this JVM, by whatever test runs. They are printed as ever. */
public final class LoggedWarnings {
  private static final List<String> LINES = new CopyOnWriteArrayList<>();

  static {
    System.setErr(new Noting(System.err));
  }

  private LoggedWarnings() {}

  /** From now on they are noted. */
  public static void note() {}

  /** Those since {@link #note} that contain the text. */
  public static List<String> about(String text) {
    return LINES.stream().filter(line -> line.contains(text)).toList();
  }

  /** The logger writes a line with one call. */
  private static final class Noting extends PrintStream {
    Noting(PrintStream to) {
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
