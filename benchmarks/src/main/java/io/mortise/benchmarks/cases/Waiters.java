package io.mortise.benchmarks.cases;

import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.measure.Latencies;
import io.mortise.benchmarks.measure.Sample;
import io.mortise.benchmarks.measure.WireCommands;
import io.mortise.benchmarks.worker.BenchmarkRequest;
import io.mortise.benchmarks.worker.BenchmarkWorker;
import io.mortise.benchmarks.worker.Threads;
import io.mortise.benchmarks.worker.WorkerReport;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Many threads of one process wait for a name that is never released. Bare commands are not
 * measured: they cannot wait for a hash.
 */
final class Waiters implements BenchmarkCase {
  private static final int PLATFORM = 1_000;
  private static final int VIRTUAL = 10_000;
  private static final String NAME = "awaited";
  private static final Duration HELD = Duration.ofMinutes(30);
  private static final Duration SETTLING = Duration.ofMillis(500);
  private static final int SETTLING_ATTEMPTS = 20;
  private static final double MILLIS_PER_SECOND = 1e3;

  @Override
  public String name() {
    return "waiters";
  }

  @Override
  public String description() {
    return "1,000 platform and (JDK 21 or later) 10,000 virtual threads wait for one name";
  }

  @Override
  public Figure figure() {
    return new Figure("heap_bytes_per_waiter", "heap of a waiter beside its stack, bytes");
  }

  @Override
  public boolean isLong() {
    return true;
  }

  @Override
  public Duration fullTime() {
    return Duration.ofMinutes(5);
  }

  @Override
  public CaseSetup open(BenchmarkSettings settings) {
    List<Workload> workloads = new ArrayList<>();
    workloads.add(workload("platform", PLATFORM, false, settings));
    if (Threads.haveVirtual()) {
      workloads.add(workload("virtual", VIRTUAL, true, settings));
    }
    return new StandaloneSetup(workloads);
  }

  private static Workload workload(
      String label, int count, boolean virtual, BenchmarkSettings settings) {
    Map<LockLibrary, Workload.Contender> contenders = new EnumMap<>(LockLibrary.class);
    for (LockLibrary library : List.of(LockLibrary.MORTISE, LockLibrary.REDISSON)) {
      contenders.put(library, ignored -> await(library, count, virtual, settings.quiet()));
    }
    return new Workload(
        label,
        ImmutableMap.of("lock", MeasuredLock.PLAIN.label(), "thread_kind", label),
        count,
        1,
        contenders,
        null);
  }

  private static Sample await(LockLibrary library, int count, boolean virtual, Duration quiet)
      throws InterruptedException {
    try (RedisServer server = RedisServer.start();
        BenchmarkWorker worker = BenchmarkWorker.start(library, List.of(server.uri()))) {
      worker.awaitReady();
      server.command("HSET", NAME, "somebody:1", "1");
      server.command("PEXPIRE", NAME, Long.toString(HELD.toMillis()));
      worker.carryOut(new BenchmarkRequest.Wait(NAME, count, virtual));
      awaitQuiet(server);
      server.resetStats();
      Uninterruptibles.sleepUninterruptibly(quiet); // the measuring window
      Map<String, Long> stats = server.commandStats();
      long connections = lines(server, "CLIENT", "LIST") - 1; // that of the request
      long subscribers = lines(server, "CLIENT", "LIST", "TYPE", "pubsub");
      WorkerReport report = worker.carryOut(new BenchmarkRequest.MeasureHeap());
      Map<String, Double> figures = new HashMap<>(report.figures());
      double waiting = figures.getOrDefault("waiting", 0.0);
      figures.put("connections", (double) connections);
      figures.put("subscriber_connections", (double) subscribers);
      figures.put(
          "commands_per_s", WireCommands.count(stats) * MILLIS_PER_SECOND / quiet.toMillis());
      figures.put("of_them_ping_per_s", pings(stats) * MILLIS_PER_SECOND / quiet.toMillis());
      return new Sample(
          Double.NaN,
          new Latencies(),
          Double.NaN,
          figures,
          waiting == count ? null : "only %.0f of %d wait".formatted(waiting, count));
    }
  }

  /** Waits until the waiters send nothing. If they never stop, their commands are measured. */
  private static void awaitQuiet(RedisServer server) {
    for (int i = 0; i < SETTLING_ATTEMPTS; i++) {
      server.resetStats();
      Uninterruptibles.sleepUninterruptibly(SETTLING); // the window that must be quiet
      if (WireCommands.count(server.commandStats()) == 0) {
        return;
      }
    }
  }

  private static long pings(Map<String, Long> stats) {
    return stats.getOrDefault("ping", 0L);
  }

  private static long lines(RedisServer server, String... command) {
    Object answer = server.command(command);
    return answer instanceof String text ? text.lines().filter(line -> !line.isBlank()).count() : 0;
  }
}
