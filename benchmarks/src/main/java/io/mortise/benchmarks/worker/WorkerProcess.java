package io.mortise.benchmarks.worker;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.Locks;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A JVM that locks, for one subject: what one does to the JVM, its compiled code and its heap, does
 * not touch the others. Reads {@link WorkerRequest}s and writes {@link Report}s, a line each; ends
 * with its input.
 */
public final class WorkerProcess {
  static final String READY = "ready";
  static final String REPORT = "report ";

  private static final ObjectMapper JSON = new ObjectMapper();

  private final LockLibrary subject;
  private final List<String> uris;
  private final Locks locks;
  private final Map<String, BenchmarkThreads> pelotons = new HashMap<>();
  private @Nullable HoldManyTask holding;
  private @Nullable Waiting waiting;

  private WorkerProcess(LockLibrary subject, List<String> uris) {
    this.subject = subject;
    this.uris = uris;
    this.locks = Locks.open(subject, uris);
  }

  /**
   * Works until the input ends.
   *
   * @param arguments the subject, and the URIs of the servers
   */
  public static void main(String[] arguments) throws IOException, InterruptedException {
    List<String> all = List.of(arguments);
    WorkerProcess worker =
        new WorkerProcess(LockLibrary.valueOf(all.get(0)), all.subList(1, all.size()));
    System.out.println(READY);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Report report = worker.carryOut(JSON.readValue(line, WorkerRequest.class));
      System.out.println(REPORT + JSON.writeValueAsString(report));
    }
    // Whoever closes our input wants us gone; a lock that cannot be given back must not keep us.
    Runtime.getRuntime().halt(0);
  }

  private Report carryOut(WorkerRequest order) throws InterruptedException {
    if (order instanceof WorkerRequest.Cycle cycle) {
      return pelotons
          .computeIfAbsent(cycle.work().id(), id -> new BenchmarkThreads(locks, cycle.work()))
          .ride(cycle.startNanos(), cycle.nanos());
    } else if (order instanceof WorkerRequest.Take take) {
      holding = new HoldManyTask(subject, uris.get(0), take);
      return Report.of(0, 0, Map.of());
    } else if (order instanceof WorkerRequest.Keep keep) {
      return there(holding).keep(keep.millis());
    } else if (order instanceof WorkerRequest.Count) {
      return there(holding).count();
    } else if (order instanceof WorkerRequest.Wait wait) {
      waiting = new Waiting(locks, wait);
      return Report.of(0, 0, Map.of());
    }
    return there(waiting).weigh();
  }

  private static <T> T there(@Nullable T thing) {
    if (thing == null) {
      throw new IllegalStateException("that was not begun");
    }
    return thing;
  }
}
