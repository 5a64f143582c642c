package io.mortise.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.FileWriter;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import picocli.CommandLine;

/** One run of the {@code mortise} command in this JVM. */
record CommandRun(int status, String out, String err) {

  static CommandRun of(String... arguments) {
    return of(Main.commandLine(), arguments);
  }

  static CommandRun of(CommandLine command, String... arguments) {
    StringWriter out = new StringWriter();
    command.setOut(new PrintWriter(out, true));
    return of(command, out, arguments);
  }

  /** Its output goes to a disk that is full. */
  static CommandRun onAFullDisk(String... arguments) throws IOException {
    try (PrintWriter full = new PrintWriter(new FileWriter("/dev/full", UTF_8))) {
      return of(Main.commandLine().setOut(full), new StringWriter(), arguments);
    }
  }

  private static CommandRun of(CommandLine command, StringWriter out, String... arguments) {
    StringWriter err = new StringWriter();
    command.setErr(new PrintWriter(err, true));
    int status = command.execute(arguments);
    return new CommandRun(status, out.toString(), err.toString());
  }
}
