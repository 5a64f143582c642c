package io.mortise.cli.options;

/** The standard streams that are terminals. The launcher names them; Java 17 cannot find out. */
public final class StandardStreams {
  private static final String INPUT_PROPERTY = "mortise.terminal.in";
  private static final String OUTPUT_PROPERTY = "mortise.terminal.out";

  private StandardStreams() {}

  /** Returns whether standard input is a terminal, where somebody can be asked. */
  public static boolean isInputTerminal() {
    return Boolean.getBoolean(INPUT_PROPERTY);
  }

  /** Returns whether standard output is a terminal. */
  public static boolean isOutputTerminal() {
    return Boolean.getBoolean(OUTPUT_PROPERTY);
  }
}
