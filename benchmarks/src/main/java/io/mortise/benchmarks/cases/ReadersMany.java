package io.mortise.benchmarks.cases;

import com.google.common.collect.ImmutableMap;
import com.google.common.util.concurrent.Uninterruptibles;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.measure.Latencies;
import io.mortise.benchmarks.measure.Sample;
import io.mortise.benchmarks.worker.BenchmarkRequest;
import io.mortise.benchmarks.worker.BenchmarkTask;
import io.mortise.benchmarks.worker.BenchmarkWorker;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Many readers hold one read-write lock, each of them a holder in Redis. Beside them a client tries
 * to write and is refused; another one enters and leaves as a reader; a third one renews its lease.
 */
final class ReadersMany implements BenchmarkCase {
  private static final List<LockLibrary> LIBRARIES =
      List.of(LockLibrary.MORTISE, LockLibrary.REDISSON);
  private static final List<Integer> READERS = List.of(1_000, 10_000, 100_000);
  private static final List<Integer> QUICK_READERS = List.of(1_000, 10_000);

  /** Longer than the case takes. */
  private static final Duration READ_LEASE = Duration.ofHours(2);

  /** Renewed each 500 ms: only a lease that is short is renewed often enough to be measured. */
  private static final Duration RENEWED_LEASE = Duration.ofMillis(1_500);

  private static final Duration RENEWAL_TURN = Duration.ofSeconds(3);
  private static final Duration QUICK_TURN = Duration.ofMillis(300);
  private static final Duration QUICK_WARM_UP = Duration.ofMillis(50);
  private static final double MILLIS_PER_SECOND = 1e3;
  private static final int NANOS_PER_MICRO = 1_000;

  @Override
  public String name() {
    return "readers-many";
  }

  @Override
  public String description() {
    return "1,000 to 100,000 readers hold one lock: a refused writer, one more reader, a renewal";
  }

  @Override
  public Figure figure() {
    return new Figure("p50_us", "median, µs");
  }

  @Override
  public Duration fullTime() {
    return Duration.ofMinutes(4);
  }

  @Override
  public int rounds(BenchmarkSettings settings) {
    return settings.quick() ? 1 : settings.rounds();
  }

  @Override
  public Duration turn(BenchmarkSettings settings) {
    return settings.quick() ? QUICK_TURN : settings.turn();
  }

  @Override
  public Duration warmUp(BenchmarkSettings settings) {
    return settings.quick() ? QUICK_WARM_UP : settings.warmUp();
  }

  @Override
  public List<Growth> growth() {
    return Stream.of(
            figure(),
            new Figure("p99_us", "99th percentile, µs"),
            new Figure("server_blocked_max_us", "longest time that Redis was blocked, µs"))
        .map(figure -> new Growth("readers", "readers", "operation", figure))
        .toList();
  }

  @Override
  public CaseSetup open(BenchmarkSettings settings) throws InterruptedException {
    return settings.quick()
        ? open(QUICK_READERS, RENEWED_LEASE, twoRenewals(RENEWED_LEASE))
        : open(READERS, RENEWED_LEASE, RENEWAL_TURN);
  }

  /** A renewal is due at each third of the lease. */
  static Duration twoRenewals(Duration lease) {
    return lease.multipliedBy(7).dividedBy(10);
  }

  /**
   * Starts server and processes, and makes the readers.
   *
   * @param renewedLease of the hold that is renewed
   * @param renewalTurn how long it is renewed in each turn
   */
  static ReadersSetup open(List<Integer> sizes, Duration renewedLease, Duration renewalTurn)
      throws InterruptedException {
    ReadersSetup setup = new ReadersSetup(new EnumMap<>(LockLibrary.class), new ArrayList<>());
    try {
      for (LockLibrary library : LIBRARIES) {
        SharedServerSetup its = SharedServerSetup.open(1, List.of(library));
        setup.libraries.put(library, its);
        its.server().command("CONFIG", "SET", "lua-time-limit", "0");
      }
      for (int readers : sizes) {
        for (LockLibrary library : LIBRARIES) {
          library.fill(
              setup.of(library).server().uri(), lockName(library, readers), readers, READ_LEASE);
        }
        cycles(
            setup,
            readers,
            "refused writer",
            MeasuredLock.WRITE_ATTEMPT,
            BenchmarkTask.Latency.CYCLE);
        cycles(setup, readers, "reader", MeasuredLock.READ, BenchmarkTask.Latency.PARTS);
        renewal(setup, readers, renewedLease, renewalTurn);
      }
      return setup;
    } catch (InterruptedException | RuntimeException | Error e) {
      setup.close();
      throw e;
    }
  }

  /**
   * A server for each library: a script that takes seconds, and is repeated after its time-out,
   * must not delay the other library. No server answers BUSY meanwhile.
   */
  record ReadersSetup(Map<LockLibrary, SharedServerSetup> libraries, List<Workload> all)
      implements CaseSetup {
    SharedServerSetup of(LockLibrary library) {
      return Objects.requireNonNull(libraries.get(library));
    }

    @Override
    public List<Workload> workloads() {
      return List.copyOf(all);
    }

    @Override
    public void close() {
      libraries.values().forEach(SharedServerSetup::close);
    }
  }

  private static String lockName(LockLibrary library, int readers) {
    return "%s:read:%d".formatted(library.label(), readers);
  }

  private static Map<String, Object> dimensions(int readers, String operation) {
    return ImmutableMap.of(
        "lock", MeasuredLock.READ.label(), "readers", readers, "operation", operation);
  }

  private static String label(int readers, String operation) {
    return "%s, %,d readers".formatted(operation, readers);
  }

  private static void cycles(
      ReadersSetup setup,
      int readers,
      String operation,
      MeasuredLock kind,
      BenchmarkTask.Latency latency) {
    String label = label(readers, operation);
    Map<LockLibrary, Workload.Contender> contenders = new EnumMap<>(LockLibrary.class);
    for (LockLibrary library : LIBRARIES) {
      String name = lockName(library, readers);
      RedisServer server = setup.of(library).server();
      WorkerTeam team =
          new WorkerTeam(
              setup.of(library).team(library),
              new BenchmarkTask(
                  label, kind, List.of(name), NameSharing.THREADS, 1, 0, 0, latency, null),
              List.of(server),
              ServerProbe.BLOCKING);
      contenders.put(library, answered(time -> judged(team.run(time), server, name, readers)));
    }
    setup.all.add(new Workload(label, dimensions(readers, operation), 1, 1, contenders, null));
  }

  private static void renewal(ReadersSetup setup, int readers, Duration lease, Duration time) {
    Map<LockLibrary, Workload.Contender> contenders = new EnumMap<>(LockLibrary.class);
    for (LockLibrary library : LIBRARIES) {
      String name = lockName(library, readers);
      RedisServer server = setup.of(library).server();
      BenchmarkWorker worker = setup.of(library).team(library).get(0);
      contenders.put(
          library,
          answered(
              ignored -> judged(renew(worker, server, name, lease, time), server, name, readers)));
    }
    setup.all.add(
        new Workload(
            label(readers, "renewal"), dimensions(readers, "renewal"), 1, 1, contenders, null));
  }

  /** The client renews by itself, so the times are those in Redis, from its log of commands. */
  private static Sample renew(
      BenchmarkWorker worker, RedisServer server, String name, Duration lease, Duration time)
      throws InterruptedException {
    worker.carryOut(new BenchmarkRequest.Read(name, lease.toMillis()));
    server.resetStats();
    ServerProbe.Measurement measurement = ServerProbe.BLOCKING.begin(server);
    ServerProbe.logSlow(server, 0);
    Uninterruptibles.sleepUninterruptibly(time); // the measuring window
    Latencies latencies = new Latencies();
    ServerProbe.scriptMicros(server).forEach(each -> latencies.add(each * NANOS_PER_MICRO));
    Map<String, Double> figures = new HashMap<>(measurement.end(Math.max(1, latencies.count())));
    figures.put("renewals_per_s", latencies.count() * MILLIS_PER_SECOND / time.toMillis());
    String error = worker.carryOut(new BenchmarkRequest.EndRead()).error();
    return new Sample(
        Double.NaN, // as in Renewals
        latencies,
        Double.NaN,
        figures,
        error == null && latencies.count() == 0 ? "nothing was renewed" : error);
  }

  /** A server that does nothing but a script for longer than its clients wait has no figures. */
  private static Workload.Contender answered(Workload.Contender contender) {
    return time -> {
      try {
        return contender.run(time);
      } catch (JedisException e) {
        return new Sample(
            Double.NaN, new Latencies(), Double.NaN, Map.of(), "Redis did not answer: " + e);
      }
    };
  }

  /** A sample beside fewer readers says nothing. */
  private static Sample judged(Sample sample, RedisServer server, String name, int readers) {
    // The hash has a field for its mode too.
    long holders =
        server.command("HLEN", name) instanceof Long fields ? Math.max(0, fields - 1) : 0;
    return sample.complaint() != null || holders >= readers
        ? sample
        : new Sample(
            sample.opsPerSecond(),
            sample.latencies(),
            sample.commandsPerOp(),
            sample.figures(),
            "only %d of %d readers hold the lock".formatted(holders, readers));
  }
}
