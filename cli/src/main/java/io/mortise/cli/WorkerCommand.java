package io.mortise.cli;

import io.mortise.cli.demo.Chapters;
import io.mortise.cli.worker.Worker;
import java.io.IOException;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

/** {@code mortise worker}: what the demo starts its processes with. Of no use to people. */
@Command(name = "worker", hidden = true, description = "A worker process of the demo.")
final class WorkerCommand implements Callable<Integer> {

  @Override
  public Integer call() throws IOException {
    PrintStream reports = System.out;
    System.setOut(System.err); // a stray line must not get between the reports
    new Worker(Chapters::workOf, reports).run(System.in);
    return 0;
  }
}
