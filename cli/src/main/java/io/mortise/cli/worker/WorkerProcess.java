package io.mortise.cli.worker;

import io.mortise.cli.worker.WorkerEvent.Failed;
import io.mortise.cli.worker.WorkerEvent.Logged;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** A worker process, seen from outside: the same Java, the same class path, a pipe each way. */
final class WorkerProcess implements AutoCloseable {
  /** The word after the main class that makes it a worker. */
  static final String SUBCOMMAND = "worker";

  private final int number;
  private final Process process;
  private final JsonLines.Writer orders;
  private final Consumer<WorkerReport> inbox;
  private volatile boolean ending;

  private WorkerProcess(int number, Process process, Consumer<WorkerReport> inbox) {
    this.number = number;
    this.process = process;
    this.orders = new JsonLines.Writer(process.getOutputStream());
    this.inbox = inbox;
  }

  static WorkerProcess start(int number, String mainClass, Consumer<WorkerReport> inbox) {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1", // short lives: quick starts count, peak speed does not
            "-XX:+UseSerialGC",
            "-Xshare:auto",
            "-cp",
            absolute(System.getProperty("java.class.path")),
            mainClass,
            SUBCOMMAND);
    try {
      WorkerProcess worker = new WorkerProcess(number, new ProcessBuilder(command).start(), inbox);
      worker.listen("events", worker::readEvents);
      worker.listen("log", worker::readLog);
      return worker;
    } catch (IOException e) {
      throw new UncheckedIOException("a worker process cannot be started: " + e.getMessage(), e);
    }
  }

  void send(WorkerRequest order) {
    try {
      orders.write(order);
    } catch (IOException e) {
      if (!ending) {
        tell(new Failed("it takes no orders any more: " + e.getMessage()));
      }
    }
  }

  /** SIGKILL. Returns when the process is gone. */
  void kill() throws InterruptedException {
    ending = true;
    process.destroyForcibly().waitFor();
  }

  Suspension suspend() throws IOException {
    return Suspension.of(process.pid());
  }

  /** Ends the process; also one that is suspended. */
  @Override
  public void close() {
    ending = true;
    process.destroyForcibly();
  }

  private void tell(WorkerEvent event) {
    inbox.accept(new WorkerReport(number, event));
  }

  private void readEvents() throws IOException {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      String line;
      while ((line = lines.readLine()) != null) {
        tell(JsonLines.event(line));
      }
    }
    if (!ending) {
      tell(new Failed("the process ended with status " + process.onExit().join().exitValue()));
    }
  }

  private void readLog() throws IOException {
    try (BufferedReader lines = process.errorReader(StandardCharsets.UTF_8)) {
      String line;
      while ((line = lines.readLine()) != null) {
        tell(new Logged(line));
      }
    }
  }

  private void listen(String what, Reading reading) {
    Thread thread =
        new Thread(
            () -> {
              try {
                reading.run();
              } catch (IOException | UncheckedIOException e) {
                if (!ending) {
                  tell(new Failed("its " + what + " cannot be read: " + e.getMessage()));
                }
              }
            },
            "worker-" + (number + 1) + "-" + what);
    thread.setDaemon(true);
    thread.start();
  }

  private static String absolute(String classPath) {
    return String.join(
        File.pathSeparator,
        List.of(classPath.split(File.pathSeparator, -1)).stream()
            .map(entry -> Path.of(entry).toAbsolutePath().toString())
            .toList());
  }

  private interface Reading {
    void run() throws IOException;
  }
}
