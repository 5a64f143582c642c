package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.cases.BenchmarkCase.CaseSetup;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.worker.BenchmarkTask;
import io.mortise.benchmarks.worker.BenchmarkWorker;
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
  private final Map<LockLibrary, List<BenchmarkWorker>> workers = new EnumMap<>(LockLibrary.class);
  private final List<Workload> workloads = new ArrayList<>();

  private SharedServerSetup(RedisServer server) {
    this.server = server;
  }

  /** Starts all processes at the same time. */
  static SharedServerSetup open(int processes) throws InterruptedException {
    return open(processes, LockLibrary.ON_ONE_SERVER);
  }

  /** As {@link #open(int)}, with some of the libraries. */
  static SharedServerSetup open(int processes, List<LockLibrary> libraries)
      throws InterruptedException {
    SharedServerSetup setup = new SharedServerSetup(RedisServer.start());
    try {
      for (LockLibrary library : libraries) {
        List<BenchmarkWorker> team = new ArrayList<>();
        setup.workers.put(library, team);
        for (int i = 0; i < processes; i++) {
          team.add(BenchmarkWorker.start(library, List.of(setup.server.uri())));
        }
      }
      for (List<BenchmarkWorker> team : setup.workers.values()) {
        for (BenchmarkWorker worker : team) {
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
   * Adds a workload for all libraries, on all processes.
   *
   * @param work the task of a library; no two libraries share a name
   */
  void add(
      String label,
      Map<String, Object> dimensions,
      Function<LockLibrary, BenchmarkTask> work,
      @Nullable String baseline) {
    int processes = workers.values().stream().mapToInt(List::size).max().orElse(0);
    add(label, dimensions, work, processes, ServerProbe.NONE, baseline);
  }

  /** As above, on some of the processes, with a probe. */
  void add(
      String label,
      Map<String, Object> dimensions,
      Function<LockLibrary, BenchmarkTask> work,
      int processes,
      ServerProbe probe,
      @Nullable String baseline) {
    add(label, dimensions, 1, work, processes, probe, baseline);
  }

  /**
   * As above, with longer turns.
   *
   * @param turns how many times the time of a turn of the case this workload takes
   */
  void add(
      String label,
      Map<String, Object> dimensions,
      int turns,
      Function<LockLibrary, BenchmarkTask> work,
      int processes,
      ServerProbe probe,
      @Nullable String baseline) {
    Map<LockLibrary, Workload.Contender> contenders = new EnumMap<>(LockLibrary.class);
    int threads = 0;
    for (LockLibrary library : workers.keySet()) {
      BenchmarkTask its = work.apply(library);
      threads = its.threads();
      WorkerTeam team =
          new WorkerTeam(team(library).subList(0, processes), its, List.of(server), probe);
      contenders.put(library, time -> team.run(time.multipliedBy(turns)));
    }
    add(new Workload(label, dimensions, threads, processes, contenders, baseline));
  }

  /** Adds a workload whose contenders use these processes in their own way. */
  void add(Workload workload) {
    workloads.add(workload);
  }

  /** The processes of one library. */
  List<BenchmarkWorker> team(LockLibrary library) {
    return workers.getOrDefault(library, List.of());
  }

  @Override
  public List<Workload> workloads() {
    return List.copyOf(workloads);
  }

  @Override
  public void close() {
    workers.values().forEach(team -> team.forEach(BenchmarkWorker::close));
    server.close();
  }
}
