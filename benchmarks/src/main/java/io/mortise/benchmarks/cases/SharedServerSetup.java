package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.cases.BenchmarkCase.Rig;
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

/** One server, and one or more workers of each subject, who serve all contests of a case. */
final class SharedServerSetup implements Rig {
  private final RedisServer server;
  private final Map<LockLibrary, List<Worker>> workers = new EnumMap<>(LockLibrary.class);
  private final List<Workload> contests = new ArrayList<>();

  private SharedServerSetup(RedisServer server) {
    this.server = server;
  }

  /** Starts all at the same time. */
  static SharedServerSetup open(int processes) throws InterruptedException {
    SharedServerSetup stage = new SharedServerSetup(RedisServer.start());
    try {
      for (LockLibrary subject : LockLibrary.values()) {
        List<Worker> team = new ArrayList<>();
        stage.workers.put(subject, team);
        for (int i = 0; i < processes; i++) {
          team.add(Worker.start(subject, List.of(stage.server.uri())));
        }
      }
      for (List<Worker> team : stage.workers.values()) {
        for (Worker worker : team) {
          worker.awaitReady();
        }
      }
      return stage;
    } catch (InterruptedException | RuntimeException | Error e) {
      stage.close();
      throw e;
    }
  }

  RedisServer server() {
    return server;
  }

  /**
   * Adds a contest of all subjects.
   *
   * @param work the work of a subject; its names are to be the subject's own
   */
  void add(
      String label,
      Map<String, Object> traits,
      Function<LockLibrary, WorkerTask> work,
      @Nullable String baseline) {
    Map<LockLibrary, Workload.Entrant> entrants = new EnumMap<>(LockLibrary.class);
    int threads = 0;
    for (LockLibrary subject : LockLibrary.values()) {
      WorkerTask its = work.apply(subject);
      threads = its.threads();
      entrants.put(subject, new WorkerTeam(team(subject), its, List.of(server)));
    }
    contests.add(
        new Workload(label, traits, threads, team(LockLibrary.MORTISE).size(), entrants, baseline));
  }

  private List<Worker> team(LockLibrary subject) {
    return workers.getOrDefault(subject, List.of());
  }

  @Override
  public List<Workload> contests() {
    return List.copyOf(contests);
  }

  @Override
  public void close() {
    workers.values().forEach(team -> team.forEach(Worker::close));
    server.close();
  }
}
