package io.mortise.benchmarks.cases;

import com.google.common.collect.ImmutableMap;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.measure.Sample;
import io.mortise.benchmarks.measure.ServerCounters;
import io.mortise.benchmarks.measure.WireCommands;
import io.mortise.benchmarks.worker.BenchmarkRequest;
import io.mortise.benchmarks.worker.BenchmarkWorker;
import io.mortise.benchmarks.worker.WorkerReport;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * One process holds many locks over a lease, in which each is renewed three times; then it locks
 * and unlocks one more beside them; then another client sends a PING each 2 ms. An operation is the
 * renewal of one lock, the times are those of a cycle beside. Each turn has its own server and
 * process.
 */
final class Renewals implements BenchmarkCase {
  private static final List<Integer> HOLDS = List.of(10_000, 100_000, 300_000);
  private static final List<Integer> QUICK_HOLDS = List.of(500, 5_000);
  private static final List<LockLibrary> QUICK_LIBRARIES =
      List.of(LockLibrary.MORTISE, LockLibrary.REDISSON);
  private static final int RENEWALS_A_LEASE = 3;

  /** Above it, a process has more heap than {@link BenchmarkWorker} gives it. */
  private static final int HOLDS_OF_A_PLAIN_HEAP = 300_000;

  private static final String LARGE_HEAP = "-Xmx6g";
  private static final double MILLIS_PER_SECOND = 1e3;
  private static final double NANOS_PER_MICRO = 1e3;

  @Override
  public String name() {
    return "renewals";
  }

  @Override
  public String description() {
    return "10,000 to 300,000 locks held for a lease of 30 s, and one more cycle beside; none lost";
  }

  @Override
  public Figure figure() {
    return new Figure("cpu_percent", "processor of the client, % of a core");
  }

  @Override
  public Duration fullTime() {
    return Duration.ofMinutes(10);
  }

  @Override
  public List<Growth> growth() {
    return Stream.of(
            figure(),
            new Figure("redis_cpu_percent", "processor of Redis, % of a core"),
            new Figure("heap_bytes_per_hold", "heap of a hold, bytes"),
            new Figure("p99_us", "one more cycle, 99th percentile, µs"),
            new Figure("ping_p99_us", "a PING of another client, 99th percentile, µs"))
        .map(figure -> new Growth("holds", "holds", "lock", figure))
        .toList();
  }

  @Override
  public boolean isLong() {
    return true;
  }

  /** A turn lasts for minutes, and counts some 100,000 renewals: one is enough. */
  @Override
  public int rounds(BenchmarkSettings settings) {
    return 1;
  }

  @Override
  public boolean usesMoreHolds() {
    return true;
  }

  @Override
  public CaseSetup open(BenchmarkSettings settings) {
    return new StandaloneSetup(
        Stream.concat(
                (settings.quick() ? QUICK_HOLDS : HOLDS).stream(), settings.moreHolds().stream())
            .distinct()
            .map(holds -> workload(holds, settings))
            .toList());
  }

  static Workload workload(int holds, BenchmarkSettings settings) {
    Map<LockLibrary, Workload.Contender> contenders = new EnumMap<>(LockLibrary.class);
    for (LockLibrary library : settings.quick() ? QUICK_LIBRARIES : LockLibrary.ON_ONE_SERVER) {
      contenders.put(library, ignored -> hold(library, holds, settings));
    }
    return new Workload(
        "%,d".formatted(holds),
        ImmutableMap.of(
            "lock",
            MeasuredLock.PLAIN.label(),
            "holds",
            holds,
            "lease_ms",
            settings.lease().toMillis()),
        1,
        1,
        contenders,
        null);
  }

  private static Sample hold(LockLibrary library, int holds, BenchmarkSettings settings)
      throws InterruptedException {
    long lease = settings.lease().toMillis();
    // Two renewals where it has to be quick; and the cycles beside last as long as one.
    long kept = settings.quick() ? 2 * lease / RENEWALS_A_LEASE : lease;
    List<String> heap = holds > HOLDS_OF_A_PLAIN_HEAP ? List.of(LARGE_HEAP) : List.of();
    try (RedisServer server = RedisServer.start();
        BenchmarkWorker worker = BenchmarkWorker.start(library, List.of(server.uri()), heap)) {
      worker.awaitReady();
      Map<String, Double> figures =
          new HashMap<>(
              worker.carryOut(new BenchmarkRequest.Take("held:", holds, lease)).figures());
      server.resetStats();
      ServerCounters before = ServerProbe.counters(server);
      WorkerReport report = worker.carryOut(new BenchmarkRequest.Keep(kept));
      Map<String, Long> stats = server.commandStats();
      ServerCounters its = ServerProbe.counters(server).since(before);
      WorkerReport beside =
          worker.carryOut(new BenchmarkRequest.CycleBeside("one more", lease / RENEWALS_A_LEASE));
      figures.putAll(pings(server, worker, lease / RENEWALS_A_LEASE));
      double lost =
          worker.carryOut(new BenchmarkRequest.Count()).figures().getOrDefault("lost", Double.NaN);
      double seconds = Duration.ofNanos(report.nanos()).toMillis() / MILLIS_PER_SECOND;
      long renewals = stats.getOrDefault("pexpire", 0L);
      long commands = WireCommands.count(stats);
      figures.put("renewals_per_s", renewals / seconds);
      figures.put("commands_per_s", commands / seconds);
      figures.put("cpu_percent", 100.0 * report.cpuNanos() / report.nanos());
      figures.put("cpu_us_per_op", report.cpuNanos() / NANOS_PER_MICRO / renewals);
      figures.put("redis_cpu_percent", 100.0 * NANOS_PER_MICRO * its.cpuMicros() / report.nanos());
      figures.put("lost", lost);
      return new Sample(
          Double.NaN, // the lease sets the rate of renewals: more of them are not better
          beside.times(),
          (double) commands / renewals,
          figures,
          lost == 0 ? beside.error() : "%.0f of %d holds were lost".formatted(lost, holds));
    }
  }

  /** After the counted time, because a PING is a command too. */
  private static Map<String, Double> pings(RedisServer server, BenchmarkWorker worker, long millis)
      throws InterruptedException {
    try (PingProbe probe = PingProbe.begin(server)) {
      worker.carryOut(new BenchmarkRequest.Keep(millis));
      return probe.end();
    }
  }
}
