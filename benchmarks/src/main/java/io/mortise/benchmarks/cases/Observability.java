package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.locks.Observer;
import io.mortise.benchmarks.worker.BenchmarkTask;
import io.mortise.benchmarks.worker.BenchmarkWorker;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Each thread locks its own name, and somebody observes it: what a listener, metrics and Flight
 * Recorder cost. Each observer has a process of its own.
 */
final class Observability implements BenchmarkCase {
  private static final List<Integer> THREADS = List.of(1, 8);

  @Override
  public String name() {
    return "observability";
  }

  @Override
  public String description() {
    return "uncontended, with nobody, a listener, Micrometer, Flight Recorder; 1, 8 threads";
  }

  @Override
  public Duration fullTime() {
    return Duration.ofMinutes(2);
  }

  @Override
  public CaseSetup open(BenchmarkSettings settings) throws InterruptedException {
    ObservedWorkers setup = new ObservedWorkers(RedisServer.start());
    try {
      setup.start();
      return setup;
    } catch (InterruptedException | RuntimeException | Error e) {
      setup.close();
      throw e;
    }
  }

  private static final class ObservedWorkers implements CaseSetup {
    private final RedisServer server;
    private final Map<Observer, BenchmarkWorker> workers = new EnumMap<>(Observer.class);
    private final List<Workload> workloads = new ArrayList<>();

    ObservedWorkers(RedisServer server) {
      this.server = server;
    }

    void start() throws InterruptedException {
      for (Observer observer : Observer.values()) {
        workers.put(
            observer,
            BenchmarkWorker.start(
                LockLibrary.MORTISE, List.of(server.uri()), List.of(observer.jvmOption())));
      }
      for (BenchmarkWorker worker : workers.values()) {
        worker.awaitReady();
      }
      for (int threads : THREADS) {
        workers.forEach((observer, worker) -> add(observer, worker, threads));
      }
    }

    private void add(Observer observer, BenchmarkWorker worker, int threads) {
      String label = label(observer, threads);
      BenchmarkTask work = BenchmarkTask.own(label, MeasuredLock.PLAIN, List.of(label), threads);
      workloads.add(
          new Workload(
              label,
              Map.of("observer", observer.label()),
              threads,
              1,
              Map.of(LockLibrary.MORTISE, new WorkerTeam(List.of(worker), work, List.of(server))),
              observer == Observer.NONE ? null : label(Observer.NONE, threads)));
    }

    private static String label(Observer observer, int threads) {
      return "%s, %d".formatted(observer.label(), threads);
    }

    @Override
    public List<Workload> workloads() {
      return List.copyOf(workloads);
    }

    @Override
    public void close() {
      workers.values().forEach(BenchmarkWorker::close);
      server.close();
    }
  }
}
