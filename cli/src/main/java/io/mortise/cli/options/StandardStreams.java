package io.mortise.cli.options;

import io.mortise.cli.text.Cell;
import java.io.PrintWriter;

/**
 * The standard streams: which of them are terminals, and whether the output was written. The
 * launcher names the terminals; Java 17 cannot find out.
 */
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

  /**
   * Prints a sentence of the command on standard error, without characters that steer a terminal.
   *
   * @param err the writer of the command
   */
  public static void report(PrintWriter err, String sentence) {
    err.println("mortise: " + Cell.printable(sentence));
    err.flush();
  }

  /**
   * Flushes standard output, and returns whether a part of it could not be written: its reader has
   * gone, or the disk is full.
   *
   * @param out the writer of the command
   */
  public static boolean isOutputLost(PrintWriter out) {
    return out.checkError() || System.out.checkError(); // they flush
  }

  /**
   * As {@link #isOutputLost}, for a command whose output is its answer.
   *
   * @throws CommandFailure if a part could not be written
   */
  public static void checkWritten(PrintWriter out) {
    checkWritten(out, ExitStatus.COULD_NOT_RUN);
  }

  /**
   * As {@link #checkWritten(PrintWriter)}, with another status.
   *
   * @param status that of the failure, one of {@link ExitStatus}
   */
  public static void checkWritten(PrintWriter out, int status) {
    if (isOutputLost(out)) {
      throw new CommandFailure(
          status,
          "standard output cannot be written; has its reader ended, or is the disk full?",
          null);
    }
  }
}
