package io.mortise.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;

/** A run of the {@code mortise} command on a thread of its own, which lasts until it is ended. */
final class RunningCommand {
  private final StringWriter out = new StringWriter();
  private final CompletableFuture<Integer> status = new CompletableFuture<>();
  private final Thread thread;

  private RunningCommand(String[] arguments) {
    CommandLine command = Main.commandLine();
    command.setOut(new PrintWriter(out, true));
    thread = new Thread(() -> status.complete(command.execute(arguments)));
  }

  static RunningCommand start(String... arguments) {
    RunningCommand command = new RunningCommand(arguments);
    command.thread.start();
    return command;
  }

  /** Returns what it has printed so far. */
  String out() {
    return out.toString();
  }

  /** Interrupts it, and returns its exit status. */
  int interrupt() throws Exception {
    thread.interrupt();
    return status.get(20, TimeUnit.SECONDS);
  }
}
