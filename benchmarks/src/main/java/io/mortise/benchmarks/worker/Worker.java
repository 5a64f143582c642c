package io.mortise.benchmarks.worker;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.testkit.JavaProcess;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;

/** A {@link WorkerProcess}, as the one who measures sees it. Used by one thread. */
public final class Worker implements AutoCloseable {
  private static final Duration START = Duration.ofMinutes(1);
  private static final Duration ANSWER = Duration.ofMinutes(5);
  private static final ObjectMapper JSON = new ObjectMapper();

  private final JavaProcess process;

  private Worker(JavaProcess process) {
    this.process = process;
  }

  /** Starts a JVM; it is ready with the first order's answer, or {@link #awaitReady}. */
  public static Worker start(LockLibrary subject, List<String> uris) {
    return new Worker(
        JavaProcess.builder(WorkerProcess.class)
            // Options of JFR and the like, for who wants to look into a worker.
            .jvmOptions(System.getProperty("mortise.bench.jvm", "-Xmx2g").split(" "))
            .arguments(subject.name())
            .arguments(uris.toArray(String[]::new))
            .start());
  }

  /** Waits until it has connected. */
  public void awaitReady() throws InterruptedException {
    process.awaitLine(WorkerProcess.READY, START);
  }

  /** Gives an order, and waits for the answer. */
  public Report carryOut(WorkerRequest order) throws InterruptedException {
    begin(order);
    return report();
  }

  /** Gives an order; {@link #report} is to follow. */
  public void begin(WorkerRequest order) {
    try {
      process.send(JSON.writeValueAsString(order));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for the answer to the last order. */
  public Report report() throws InterruptedException {
    String line = process.awaitLine(WorkerProcess.REPORT, ANSWER);
    try {
      return JSON.readValue(line.substring(WorkerProcess.REPORT.length()), Report.class);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.close();
  }
}
