package io.mortise.benchmarks.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.measure.Sample;
import io.mortise.benchmarks.worker.BenchmarkTask;
import io.mortise.benchmarks.worker.SharedMemoryCounter;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The cases that measure cost against size, with the smallest sizes. */
@Timeout(180)
class GrowthSmokeTest {
  private static final Duration MOMENT = Duration.ofMillis(100);

  /** A busy machine may stop a process for a second. */
  private static final Duration RENEWED_LEASE = Duration.ofSeconds(6);

  /** Each client has connected, and has waited. */
  private static final Duration ENOUGH_TO_WAIT = Duration.ofSeconds(3);

  private static final List<LockLibrary> CLIENTS =
      List.of(LockLibrary.MORTISE, LockLibrary.REDISSON);

  @Test
  void clientsOfACrowdExcludeEachOtherAndAreCounted() throws Exception {
    try (SharedServerSetup setup = SharedServerSetup.open(2, CLIENTS)) {
      setup.add("crowd", Map.of(), GrowthSmokeTest::crowd, 2, ServerProbe.MESSAGES, null);
      for (LockLibrary library : CLIENTS) {
        run(setup.workloads().get(0), library); // connects
        Sample sample = run(setup.workloads().get(0), library, ENOUGH_TO_WAIT);
        assertNull(sample.complaint(), library.label());
        assertTrue(figure(sample, "scripts_per_op") > 0, library.label());
        assertTrue(figure(sample, "publishes_per_op") > 0, library.label());
        assertTrue(figure(sample, "messages_per_op") > 0, library.label());
        assertTrue(figure(sample, "least_client_share") > 0, library.label());
        assertTrue(figure(sample, "least_client_share") <= 1, library.label());
      }
    }
  }

  /** Somebody holds the lock until all wait. One client a process would have one subscriber. */
  @Test
  void eachThreadOfACrowdHasAClientOfItsOwn() throws Exception {
    try (SharedServerSetup setup = SharedServerSetup.open(2, List.of(LockLibrary.MORTISE))) {
      setup.add("crowd", Map.of(), GrowthSmokeTest::crowd, 2, ServerProbe.MESSAGES, null);
      RedisServer server = setup.server();
      server.command("HSET", "mortise:crowd", "somebody:1", "1");
      server.command("PEXPIRE", "mortise:crowd", "60000");
      FutureTask<Sample> turn =
          new FutureTask<>(() -> run(setup.workloads().get(0), LockLibrary.MORTISE));
      new Thread(turn).start();
      Awaitility.await()
          .atMost(Duration.ofSeconds(40))
          .untilAsserted(() -> assertEquals(4, subscribers(server)));
      server.command("DEL", "mortise:crowd");
      server.command("PUBLISH", "redisson_lock__channel:{mortise:crowd}", "0");
      assertNull(turn.get().complaint());
    }
  }

  private static long subscribers(RedisServer server) {
    return String.valueOf(server.command("CLIENT", "LIST", "TYPE", "pubsub"))
        .lines()
        .filter(line -> !line.isBlank())
        .count();
  }

  @Test
  void manyReadersAreHoldersBesideWhichARealClientWorks() throws Exception {
    try (ReadersMany.ReadersSetup setup = readersMany()) {
      for (Workload workload : setup.workloads()) {
        for (LockLibrary library : CLIENTS) {
          Sample sample = run(workload, library);
          String what = workload.label() + " by " + library;
          assertNull(sample.complaint(), what);
          assertTrue(sample.latencies().count() > 0, what);
          assertTrue(figure(sample, "server_us_per_op") > 0, what);
          assertTrue(figure(sample, "server_blocked_max_us") > 0, what);
        }
      }
      Sample reader = run(setup.workloads().get(1), LockLibrary.MORTISE);
      assertTrue(figure(reader, "entry_p50_us") > 0);
      assertTrue(figure(reader, "entry_p99_us") >= figure(reader, "entry_p50_us"));
      assertTrue(figure(reader, "exit_p50_us") > 0);
      assertTrue(figure(reader, "exit_p99_us") >= figure(reader, "exit_p50_us"));
    }
  }

  @Test
  void readersThatAreGoneAreAComplaint() throws Exception {
    try (ReadersMany.ReadersSetup setup = readersMany()) {
      for (LockLibrary library : CLIENTS) {
        setup.of(library).server().command("FLUSHALL");
        for (Workload workload : setup.workloads()) {
          assertNotNull(run(workload, library).complaint(), workload.label() + " by " + library);
        }
      }
    }
  }

  @Test
  void holdsAreRenewedWithACycleBeside() throws Exception {
    Workload workload = Renewals.workload(60, patient());
    for (LockLibrary library : CLIENTS) {
      Sample sample = run(workload, library);
      assertNull(sample.complaint(), library.label());
      assertEquals(0, figure(sample, "lost"), library.label());
      assertTrue(figure(sample, "heap_bytes_per_hold") > 50, library.label());
      assertTrue(figure(sample, "redis_cpu_percent") >= 0, library.label());
      assertTrue(figure(sample, "renewals_per_s") > 0, library.label());
      assertTrue(sample.latencies().count() > 10, library.label());
    }
  }

  @Test
  void theFootprintIsThatOfWhatWasPutIntoRedis() throws Exception {
    try (BenchmarkCase.CaseSetup setup =
        new Footprint().open(BenchmarkSettings.quick(5, List.of()))) {
      for (Workload workload : setup.workloads()) {
        for (LockLibrary library : workload.contenders().keySet()) {
          Sample sample = run(workload, library);
          String what = workload.label() + " by " + library;
          assertNull(sample.complaint(), what);
          assertTrue(figure(sample, "redis_bytes") > 50, what);
          assertTrue(figure(sample, "redis_bytes") < 2_000, what);
        }
      }
    }
  }

  @Test
  void sizesOnRequestAreAddedToTheRenewals() {
    try (BenchmarkCase.CaseSetup setup =
        new Renewals().open(BenchmarkSettings.thorough(5, List.of(1_000_000, 10_000)))) {
      assertEquals(
          List.of("10,000", "100,000", "300,000", "1,000,000"),
          setup.workloads().stream().map(Workload::label).toList());
    }
  }

  private static Sample run(Workload workload, LockLibrary library) throws InterruptedException {
    return run(workload, library, MOMENT);
  }

  private static Sample run(Workload workload, LockLibrary library, Duration time)
      throws InterruptedException {
    Workload.Contender contender = workload.contenders().get(library);
    assertNotNull(contender);
    return contender.run(time);
  }

  private static BenchmarkSettings patient() {
    BenchmarkSettings quick = BenchmarkSettings.quick(5, List.of());
    return new BenchmarkSettings(
        true,
        quick.rounds(),
        quick.turn(),
        quick.warmUp(),
        quick.longRounds(),
        RENEWED_LEASE,
        List.of(),
        quick.quiet());
  }

  private static ReadersMany.ReadersSetup readersMany() throws InterruptedException {
    return ReadersMany.open(List.of(40), RENEWED_LEASE, ReadersMany.twoRenewals(RENEWED_LEASE));
  }

  private static double figure(Sample sample, String name) {
    return sample.figures().getOrDefault(name, Double.NaN);
  }

  private static BenchmarkTask crowd(LockLibrary library) {
    return new BenchmarkTask(
        "crowd",
        MeasuredLock.PLAIN,
        List.of(library.label() + ":crowd"),
        NameSharing.CLIENTS,
        2,
        200,
        0,
        BenchmarkTask.Latency.WAIT,
        SharedMemoryCounter.newFile().toString());
  }
}
