package io.mortise.benchmarks.cases;

import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.measure.Latencies;
import io.mortise.benchmarks.measure.Sample;
import io.mortise.benchmarks.measure.WireCommands;
import io.mortise.benchmarks.worker.BenchmarkRequest;
import io.mortise.benchmarks.worker.BenchmarkTask;
import io.mortise.benchmarks.worker.BenchmarkWorker;
import io.mortise.benchmarks.worker.SharedMemoryCounter;
import io.mortise.benchmarks.worker.WorkerReport;
import io.mortise.testkit.RedisServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Workers that run the same task at the same time.
 *
 * @param servers those whose commands are counted
 * @param probe what else is asked of the first of them
 */
record WorkerTeam(
    List<BenchmarkWorker> workers, BenchmarkTask work, List<RedisServer> servers, ServerProbe probe)
    implements Workload.Contender {
  private static final double NANOS_PER_SECOND = 1e9;
  private static final double NANOS_PER_MICRO = 1e3;

  /** The time in which a request reaches the slowest worker. */
  private static final long LEAD_NANOS = 20_000_000;

  WorkerTeam(List<BenchmarkWorker> workers, BenchmarkTask work, List<RedisServer> servers) {
    this(workers, work, servers, ServerProbe.NONE);
  }

  @Override
  public Sample run(Duration time) throws InterruptedException {
    String file = work.counterFile();
    SharedMemoryCounter counter = file == null ? null : SharedMemoryCounter.map(Path.of(file));
    if (counter != null) {
      counter.clear();
    }
    servers.forEach(RedisServer::resetStats);
    ServerProbe.Measurement measurement = probe.begin(servers.get(0));
    BenchmarkRequest request =
        new BenchmarkRequest.Cycle(work, System.nanoTime() + LEAD_NANOS, time.toNanos());
    workers.forEach(worker -> worker.begin(request));
    List<WorkerReport> reports = new ArrayList<>();
    for (BenchmarkWorker worker : workers) {
      reports.add(worker.report());
    }
    long commands =
        servers.stream().mapToLong(server -> WireCommands.count(server.commandStats())).sum();
    long ops = reports.stream().mapToLong(WorkerReport::ops).sum();
    return sample(
        reports, commands, counter == null ? -1 : counter.entries(), ops, measurement.end(ops));
  }

  private Sample sample(
      List<WorkerReport> reports,
      long commands,
      long entries,
      long ops,
      Map<String, Double> probed) {
    long nanos = reports.stream().mapToLong(WorkerReport::nanos).max().orElseThrow();
    long errors = reports.stream().mapToLong(WorkerReport::errors).sum();
    Latencies latencies = new Latencies();
    Latencies handOffs = new Latencies();
    for (WorkerReport report : reports) {
      merge(latencies, report.latencies());
      merge(handOffs, report.handOffs());
    }
    Map<String, Double> figures = new HashMap<>(probed);
    reports.forEach(report -> figures.putAll(report.figures()));
    figures.put(
        "cpu_us_per_op",
        reports.stream().mapToLong(WorkerReport::cpuNanos).sum() / NANOS_PER_MICRO / ops);
    if (work.sharing() != NameSharing.NOBODY) {
      long least = reports.stream().mapToLong(WorkerReport::leastThread).min().orElse(0);
      figures.put(
          work.sharing() == NameSharing.CLIENTS ? "least_client_share" : "least_thread_share",
          (double) least * work.threads() * workers.size() / ops);
    }
    if (workers.size() > 1) {
      long least = reports.stream().mapToLong(WorkerReport::ops).min().orElse(0);
      figures.put("least_process_share", (double) least * workers.size() / ops);
      for (int process = 0; process < reports.size(); process++) {
        figures.put(
            "process_%d_share".formatted(process + 1),
            (double) reports.get(process).ops() * workers.size() / ops);
      }
    }
    if (handOffs.count() > 0) {
      figures.put("hand_off_p50_us", handOffs.micros(50));
      figures.put("hand_off_p99_us", handOffs.micros(99));
    }
    if (errors > 0) {
      figures.put("errors", (double) errors);
    }
    return new Sample(
        ops * NANOS_PER_SECOND / nanos,
        latencies,
        (double) commands / ops,
        figures,
        complaint(reports, ops, errors, entries));
  }

  private @Nullable String complaint(
      List<WorkerReport> reports, long ops, long errors, long entries) {
    // A cycle whose release failed is an entry, and no operation.
    if (entries >= 0 && (entries < ops || entries > ops + errors)) {
      return "%d cycles, but the shared counter has %d: two holders were inside at the same time"
          .formatted(ops, entries);
    }
    return reports.stream()
        .map(WorkerReport::error)
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(null);
  }

  private static void merge(Latencies all, @Nullable String encoded) {
    if (encoded != null) {
      all.add(Latencies.decode(encoded));
    }
  }
}
