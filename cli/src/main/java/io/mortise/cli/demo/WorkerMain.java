package io.mortise.cli.demo;

import io.mortise.cli.worker.Worker;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Locale;

/** The main class of the demo's worker processes. */
public final class WorkerMain {
  private WorkerMain() {}

  /** Serves the requests on standard input until it ends, and then ends the JVM. */
  public static void main(String[] arguments) throws IOException {
    Locale.setDefault(Locale.Category.FORMAT, Locale.ROOT); // numbers read the same everywhere
    PrintStream events = System.out;
    System.setOut(System.err); // a stray line must not get between the events
    new Worker(Chapters::taskOf, events).run(System.in);
    System.exit(0);
  }
}
