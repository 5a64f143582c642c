package io.mortise.benchmarks.worker;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.testkit.JavaProcess;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;

/**
 * A handle on a {@link WorkerProcess}: sends requests and reads the reports.
 *
 * <p><b>Threads.</b> One thread.
 */
public final class Worker implements AutoCloseable {
  private static final Duration START = Duration.ofMinutes(1);

  /** A million locks take minutes to acquire. */
  private static final Duration ANSWER = Duration.ofMinutes(20);

  private static final ObjectMapper JSON = new ObjectMapper();

  private final JavaProcess process;

  private Worker(JavaProcess process) {
    this.process = process;
  }

  /** Starts a JVM; it is ready with its first report, or after {@link #awaitReady}. */
  public static Worker start(LockLibrary library, List<String> uris) {
    return start(library, uris, List.of());
  }

  /** As {@link #start(LockLibrary, List)}, with more options of the JVM. */
  public static Worker start(LockLibrary library, List<String> uris, List<String> jvmOptions) {
    return new Worker(
        JavaProcess.builder(WorkerProcess.class)
            // Options such as those of JFR, to profile a worker.
            .jvmOptions(System.getProperty("mortise.bench.jvm", "-Xmx2g").split(" "))
            .jvmOptions(jvmOptions.toArray(String[]::new))
            .arguments(library.name())
            .arguments(uris.toArray(String[]::new))
            .start());
  }

  /** Waits until it has connected. */
  public void awaitReady() throws InterruptedException {
    process.awaitLine(WorkerProcess.READY, START);
  }

  /** Sends a request and waits for its report. */
  public Report carryOut(WorkerRequest request) throws InterruptedException {
    begin(request);
    return report();
  }

  /** Sends a request; {@link #report} is to follow. */
  public void begin(WorkerRequest request) {
    try {
      process.send(JSON.writeValueAsString(request));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for the report on the last request. */
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
