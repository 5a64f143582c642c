package io.mortise.benchmarks.worker;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.testkit.JavaProcess;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;

/**
 * A handle on a {@link BenchmarkProcess}: sends requests and reads the reports.
 *
 * <p><b>Threads.</b> One thread.
 */
public final class BenchmarkWorker implements AutoCloseable {
  private static final Duration START = Duration.ofMinutes(1);

  /** A million locks take minutes to acquire. */
  private static final Duration ANSWER = Duration.ofMinutes(20);

  private static final ObjectMapper JSON = new ObjectMapper();

  private final JavaProcess process;

  private BenchmarkWorker(JavaProcess process) {
    this.process = process;
  }

  /** Starts a JVM; it is ready with its first report, or after {@link #awaitReady}. */
  public static BenchmarkWorker start(LockLibrary library, List<String> uris) {
    return start(library, uris, List.of());
  }

  /** As {@link #start(LockLibrary, List)}, with more options of the JVM. */
  public static BenchmarkWorker start(
      LockLibrary library, List<String> uris, List<String> jvmOptions) {
    return new BenchmarkWorker(
        JavaProcess.builder(BenchmarkProcess.class)
            // Options such as those of JFR, to profile a worker.
            .jvmOptions(System.getProperty("mortise.bench.jvm", "-Xmx2g").split(" "))
            .jvmOptions(jvmOptions.toArray(String[]::new))
            .arguments(library.name())
            .arguments(uris.toArray(String[]::new))
            .start());
  }

  /** Waits until it has connected. */
  public void awaitReady() throws InterruptedException {
    process.awaitLine(BenchmarkProcess.READY, START);
  }

  /** Sends a request and waits for its report. */
  public WorkerReport carryOut(BenchmarkRequest request) throws InterruptedException {
    begin(request);
    return report();
  }

  /** Sends a request; {@link #report} is to follow. */
  public void begin(BenchmarkRequest request) {
    try {
      process.send(JSON.writeValueAsString(request));
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for the report on the last request. */
  public WorkerReport report() throws InterruptedException {
    String line = process.awaitLine(BenchmarkProcess.REPORT, ANSWER);
    try {
      return JSON.readValue(line.substring(BenchmarkProcess.REPORT.length()), WorkerReport.class);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.close();
  }
}
