package io.mortise.cli;

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
    StringWriter err = new StringWriter();
    command.setOut(new PrintWriter(out, true));
    command.setErr(new PrintWriter(err, true));
    int status = command.execute(arguments);
    return new CommandRun(status, out.toString(), err.toString());
  }
}
