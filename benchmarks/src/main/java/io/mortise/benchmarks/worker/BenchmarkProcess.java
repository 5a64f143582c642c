package io.mortise.benchmarks.worker;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.Locks;
import io.mortise.benchmarks.locks.NameSharing;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A JVM that locks with one library, so that the compiled code and the heap of one library do not
 * touch the others. Reads {@link BenchmarkRequest}s and writes {@link WorkerReport}s, one a line;
 * ends with its input.
 */
public final class BenchmarkProcess {
  static final String READY = "ready";
  static final String REPORT = "report ";

  private static final ObjectMapper JSON = new ObjectMapper();

  private final LockLibrary library;
  private final List<String> uris;
  private final Locks locks;
  private final List<Locks> crowd = new ArrayList<>();
  private final Map<String, BenchmarkThreads> threads = new HashMap<>();
  private @Nullable HoldManyTask holding;
  private @Nullable ReadTask reading;
  private @Nullable Waiting waiting;

  private BenchmarkProcess(LockLibrary library, List<String> uris) {
    this.library = library;
    this.uris = uris;
    this.locks = library.open(uris);
  }

  /**
   * Serves requests until the input ends. Then it ends the JVM at once: a lock that cannot be
   * released, or a thread of a client, must not keep it alive.
   *
   * @param arguments the library, and the URIs of the servers
   */
  public static void main(String[] arguments) {
    int status = 0;
    try {
      List<String> all = List.of(arguments);
      new BenchmarkProcess(LockLibrary.valueOf(all.get(0)), all.subList(1, all.size())).serve();
    } catch (IOException | InterruptedException | RuntimeException | Error e) {
      e.printStackTrace();
      status = 1;
    }
    Runtime.getRuntime().halt(status);
  }

  private void serve() throws IOException, InterruptedException {
    System.out.println(READY);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      WorkerReport report = carryOut(JSON.readValue(line, BenchmarkRequest.class));
      System.out.println(REPORT + JSON.writeValueAsString(report));
    }
  }

  private BenchmarkThreads threadsOf(BenchmarkTask work) {
    return work.sharing() == NameSharing.CLIENTS
        ? new BenchmarkThreads(this::clientInCrowd, work)
        : new BenchmarkThreads(thread -> locks, work);
  }

  /** The clients of a small crowd belong to the larger ones too. */
  private Locks clientInCrowd(int number) {
    while (crowd.size() <= number) {
      crowd.add(library.openInCrowd(uris));
    }
    return crowd.get(number);
  }

  private WorkerReport carryOut(BenchmarkRequest request) throws InterruptedException {
    if (request instanceof BenchmarkRequest.Cycle cycle) {
      return threads
          .computeIfAbsent(cycle.work().id(), id -> threadsOf(cycle.work()))
          .run(cycle.startNanos(), cycle.nanos());
    } else if (request instanceof BenchmarkRequest.Take take) {
      holding = new HoldManyTask(library, uris.get(0), take);
      return holding.taken();
    } else if (request instanceof BenchmarkRequest.Keep keep) {
      return requireNonNull(holding, "nothing is held").keep(keep.millis());
    } else if (request instanceof BenchmarkRequest.Count) {
      return requireNonNull(holding, "nothing is held").count();
    } else if (request instanceof BenchmarkRequest.CycleBeside beside) {
      return requireNonNull(holding, "nothing is held").cycle(beside.name(), beside.millis());
    } else if (request instanceof BenchmarkRequest.Read read) {
      if (reading == null) {
        reading = new ReadTask(library, uris.get(0), read);
      }
      reading.begin(read.name());
      return WorkerReport.of(0, 0, Map.of());
    } else if (request instanceof BenchmarkRequest.EndRead) {
      return requireNonNull(reading, "nothing is read").end();
    } else if (request instanceof BenchmarkRequest.Wait wait) {
      waiting = new Waiting(locks, wait);
      return WorkerReport.of(0, 0, Map.of());
    }
    return requireNonNull(waiting, "nothing waits").measureHeap();
  }
}
