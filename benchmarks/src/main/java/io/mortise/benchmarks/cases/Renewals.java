package io.mortise.benchmarks.cases;

import com.google.common.collect.ImmutableMap;
import io.mortise.benchmarks.locks.LockKind;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.measure.Latencies;
import io.mortise.benchmarks.measure.Sample;
import io.mortise.benchmarks.measure.WireCommands;
import io.mortise.benchmarks.worker.Report;
import io.mortise.benchmarks.worker.Worker;
import io.mortise.benchmarks.worker.WorkerRequest;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * One process holds ten thousand locks over three leases. An operation is the renewal of one lock;
 * each turn has its own server and process.
 */
final class Renewals implements BenchmarkCase {
  private static final int HOLDS = 10_000;
  private static final int LEASES = 3;
  private static final double MILLIS_PER_SECOND = 1e3;
  private static final double NANOS_PER_MICRO = 1e3;

  @Override
  public String name() {
    return "renewals";
  }

  @Override
  public String description() {
    return "10,000 held locks over three leases: commands, processor time, none lost";
  }

  @Override
  public Figure figure() {
    return new Figure("commands_per_s", "commands per second to renew 10,000 locks");
  }

  @Override
  public boolean isLong() {
    return true;
  }

  @Override
  public CaseSetup open(Settings settings) {
    Map<LockLibrary, Workload.Contender> contenders = new EnumMap<>(LockLibrary.class);
    for (LockLibrary library : LockLibrary.values()) {
      contenders.put(library, ignored -> hold(library, settings.lease()));
    }
    Map<String, Object> dimensions =
        ImmutableMap.of(
            "lock",
            LockKind.PLAIN.label(),
            "holds",
            HOLDS,
            "lease_ms",
            settings.lease().toMillis());
    return new StandaloneSetup(List.of(new Workload("10,000", dimensions, 1, 1, contenders, null)));
  }

  private static Sample hold(LockLibrary library, Duration lease) throws InterruptedException {
    try (RedisServer server = RedisServer.start();
        Worker worker = Worker.start(library, List.of(server.uri()))) {
      worker.awaitReady();
      worker.carryOut(new WorkerRequest.Take("held:", HOLDS, lease.toMillis()));
      server.resetStats();
      Report report =
          worker.carryOut(new WorkerRequest.Keep(lease.multipliedBy(LEASES).toMillis()));
      Map<String, Long> stats = server.commandStats();
      double lost =
          worker.carryOut(new WorkerRequest.Count()).figures().getOrDefault("lost", Double.NaN);
      double seconds = Duration.ofNanos(report.nanos()).toMillis() / MILLIS_PER_SECOND;
      long renewals = stats.getOrDefault("pexpire", 0L);
      long commands = WireCommands.count(stats);
      return new Sample(
          renewals / seconds,
          new Latencies(),
          (double) commands / renewals,
          Map.of(
              "commands_per_s",
              commands / seconds,
              "cpu_percent",
              100.0 * report.cpuNanos() / report.nanos(),
              "cpu_us_per_op",
              report.cpuNanos() / NANOS_PER_MICRO / renewals,
              "lost",
              lost),
          lost == 0 ? null : "%.0f of %d holds were lost".formatted(lost, HOLDS));
    }
  }
}
