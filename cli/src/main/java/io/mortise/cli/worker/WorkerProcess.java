package io.mortise.cli.worker;

import io.mortise.cli.worker.WorkerEvent.Failed;
import io.mortise.cli.worker.WorkerEvent.Logged;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A handle on a worker process, which runs on the same Java and class path, with a pipe each way.
 *
 * <p><b>Threads.</b> Any thread may send, kill and close; two daemon threads read its output.
 */
final class WorkerProcess implements AutoCloseable {
  private final int number;
  private final Process process;
  private final JsonLines.Writer requests;
  private final Consumer<WorkerReport> reports;
  private volatile boolean ending;

  private WorkerProcess(int number, Process process, Consumer<WorkerReport> reports) {
    this.number = number;
    this.process = process;
    this.requests = new JsonLines.Writer(process.getOutputStream());
    this.reports = reports;
  }

  /**
   * Starts the process.
   *
   * @param recordings the folder in which it leaves a recording of Flight Recorder at its end
   */
  static WorkerProcess start(
      int number, String mainClass, Optional<Path> recordings, Consumer<WorkerReport> reports) {
    List<String> command = command(mainClass, recordings);
    try {
      WorkerProcess worker =
          new WorkerProcess(number, new ProcessBuilder(command).start(), reports);
      worker.listen("events", worker::readEvents);
      worker.listen("log", worker::readLog);
      return worker;
    } catch (IOException e) {
      throw new UncheckedIOException("a worker process cannot be started: " + e.getMessage(), e);
    }
  }

  private static List<String> command(String mainClass, Optional<Path> recordings) {
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1", // a quick start matters more than peak speed
                "-XX:+UseSerialGC",
                "-Xshare:auto",
                // What the JVM itself says goes to standard output otherwise, between the events.
                "-Xlog:disable",
                "-Xlog:all=warning:stderr",
                "-Xlog:jfr+startup=error:stderr")); // or a recording announces itself all the same
    recordings.ifPresent(
        folder -> command.add("-XX:StartFlightRecording:filename=\"%s\"".formatted(folder)));
    command.addAll(List.of("-cp", absolute(System.getProperty("java.class.path")), mainClass));
    return command;
  }

  void send(WorkerRequest request) {
    try {
      requests.write(request);
    } catch (IOException e) {
      if (!ending) {
        report(new Failed("it takes no requests any more: " + e.getMessage()));
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

  /** Ends the input of the process, which then ends by itself, and writes its recording. */
  void endInput() {
    ending = true;
    try {
      requests.close();
    } catch (IOException e) {
      // It has ended already.
    }
  }

  /** Returns when the process has ended, or the time is over. */
  void awaitEnd(long timeoutNanos) throws InterruptedException {
    var unused = process.waitFor(timeoutNanos, TimeUnit.NANOSECONDS);
  }

  /** Ends the process; also one that is suspended. */
  @Override
  public void close() {
    ending = true;
    process.destroyForcibly();
  }

  private void report(WorkerEvent event) {
    reports.accept(new WorkerReport(number, event));
  }

  private void readEvents() throws IOException {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      String line;
      while ((line = lines.readLine()) != null) {
        report(JsonLines.event(line));
      }
    }
    if (!ending) {
      report(new Failed("the process ended with status " + process.onExit().join().exitValue()));
    }
  }

  private void readLog() throws IOException {
    try (BufferedReader lines = process.errorReader(StandardCharsets.UTF_8)) {
      String line;
      while ((line = lines.readLine()) != null) {
        report(new Logged(line));
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
                  report(new Failed("its " + what + " cannot be read: " + e.getMessage()));
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
