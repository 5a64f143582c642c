package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.cases.BenchmarkCase.CaseSetup;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.worker.Worker;
import io.mortise.benchmarks.worker.WorkerTask;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One server, and one or more workers of each library, which serve all workloads of a case. */
final class SharedServerSetup implements CaseSetup {
  private final RedisServer server;
  private final Map<LockLibrary, List<Worker>> workers = new EnumMap<>(LockLibrary.class);
  private final List<Workload> workloads = new ArrayList<>();

  private SharedServerSetup(RedisServer server) {
    this.server = server;
  }

  /** Starts all processes at the same time. */
  static SharedServerSetup open(int processes) throws InterruptedException {
    SharedServerSetup setup = new SharedServerSetup(RedisServer.start());
    try {
      for (LockLibrary library : LockLibrary.values()) {
        List<Worker> team = new ArrayList<>();
        setup.workers.put(library, team);
        for (int i = 0; i < processes; i++) {
          team.add(Worker.start(library, List.of(setup.server.uri())));
        }
      }
      for (List<Worker> team : setup.workers.values()) {
        for (Worker worker : team) {
          worker.awaitReady();
        }
      }
      return setup;
    } catch (InterruptedException | RuntimeException | Error e) {
      setup.close();
      throw e;
    }
  }

  RedisServer server() {
    return server;
  }

  /**
   * Adds a workload for all libraries.
   *
   * @param work the task of a library; no two libraries share a name
   */
  void add(
      String label,
      Map<String, Object> dimensions,
      Function<LockLibrary, WorkerTask> work,
      @Nullable String baseline) {
    Map<LockLibrary, Workload.Contender> contenders = new EnumMap<>(LockLibrary.class);
    int threads = 0;
    for (LockLibrary library : LockLibrary.values()) {
      WorkerTask its = work.apply(library);
      threads = its.threads();
      contenders.put(library, new WorkerTeam(team(library), its, List.of(server)));
    }
    workloads.add(
        new Workload(
            label, dimensions, threads, team(LockLibrary.MORTISE).size(), contenders, baseline));
  }

  private List<Worker> team(LockLibrary library) {
    return workers.getOrDefault(library, List.of());
  }

  @Override
  public List<Workload> workloads() {
    return List.copyOf(workloads);
  }

  @Override
  public void close() {
    workers.values().forEach(team -> team.forEach(Worker::close));
    server.close();
  }
}
