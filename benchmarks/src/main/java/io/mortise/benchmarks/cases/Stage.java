package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.cases.BenchmarkCase.Rig;
import io.mortise.benchmarks.locks.Subject;
import io.mortise.benchmarks.worker.Work;
import io.mortise.benchmarks.worker.Worker;
import io.mortise.testkit.RedisServer;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One server, and one or more workers of each subject, who serve all contests of a case. */
final class Stage implements Rig {
  private final RedisServer server;
  private final Map<Subject, List<Worker>> workers = new EnumMap<>(Subject.class);
  private final List<Contest> contests = new ArrayList<>();

  private Stage(RedisServer server) {
    this.server = server;
  }

  /** Starts all at the same time. */
  static Stage open(int processes) throws InterruptedException {
    Stage stage = new Stage(RedisServer.start());
    try {
      for (Subject subject : Subject.values()) {
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
      Function<Subject, Work> work,
      @Nullable String baseline) {
    Map<Subject, Contest.Entrant> entrants = new EnumMap<>(Subject.class);
    int threads = 0;
    for (Subject subject : Subject.values()) {
      Work its = work.apply(subject);
      threads = its.threads();
      entrants.put(subject, new Team(team(subject), its, List.of(server)));
    }
    contests.add(
        new Contest(label, traits, threads, team(Subject.MORTISE).size(), entrants, baseline));
  }

  private List<Worker> team(Subject subject) {
    return workers.getOrDefault(subject, List.of());
  }

  @Override
  public List<Contest> contests() {
    return List.copyOf(contests);
  }

  @Override
  public void close() {
    workers.values().forEach(team -> team.forEach(Worker::close));
    server.close();
  }
}
