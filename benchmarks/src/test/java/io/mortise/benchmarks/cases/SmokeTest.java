package io.mortise.benchmarks.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.benchmarks.locks.ListSection;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.MeasuredLock;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.measure.Sample;
import io.mortise.benchmarks.worker.BenchmarkTask;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** All libraries run all tasks once, in real processes on a real server. */
@Timeout(120)
class SmokeTest {
  private static final Duration MOMENT = Duration.ofMillis(200);

  /** Both processes come in, also when one of them is stopped for a while. */
  private static final Duration ENOUGH_FOR_BOTH = Duration.ofSeconds(2);

  @Test
  void everyLibraryRunsEveryTaskWithoutAComplaint() throws Exception {
    try (SharedServerSetup setup = SharedServerSetup.open(1)) {
      for (MeasuredLock kind :
          List.of(
              MeasuredLock.PLAIN,
              MeasuredLock.FAIR,
              MeasuredLock.WRITE,
              MeasuredLock.READ,
              MeasuredLock.MULTI)) {
        setup.add(
            kind.label(),
            Map.of(),
            library ->
                BenchmarkTask.own(
                    kind.label() + library,
                    kind,
                    List.of(library + ":" + kind + ":a", library + ":" + kind + ":b"),
                    1),
            null);
      }
      setup.add("catalogue", Map.of(), SmokeTest::catalogue, null);
      for (Workload workload : setup.workloads()) {
        for (LockLibrary library : workload.contenders().keySet()) {
          judge(workload, library, MOMENT);
        }
      }
    }
  }

  @Test
  void processesShareOneNameAndItsHandOver(@TempDir Path folder) throws Exception {
    try (SharedServerSetup setup = SharedServerSetup.open(2)) {
      setup.server().command("RPUSH", ListSection.key("BARE_COMMANDS:hot"), "1");
      setup.add("hot", Map.of(), library -> hot(library, folder), null);
      for (LockLibrary library : LockLibrary.ON_ONE_SERVER) {
        Sample sample = judge(setup.workloads().get(0), library, ENOUGH_FOR_BOTH);
        assertTrue(sample.figures().get("hand_off_p50_us") > 0, library.label());
        double shares =
            sample.figures().get("process_1_share") + sample.figures().get("process_2_share");
        assertEquals(2, shares, 0.001, library.label());
      }
    }
  }

  private static Sample judge(Workload workload, LockLibrary library, Duration time)
      throws InterruptedException {
    Sample sample = workload.contenders().get(library).run(time);
    String what = workload.label() + " by " + library;
    assertNull(sample.complaint(), what);
    assertTrue(sample.opsPerSecond() > 0, what);
    assertTrue(sample.latencies().count() > 0, what);
    assertTrue(sample.p50Micros() > 0 && sample.p50Micros() <= sample.p99Micros(), what);
    assertTrue(sample.commandsPerOp() > 0, what);
    return sample;
  }

  private static BenchmarkTask hot(LockLibrary library, Path folder) {
    return new BenchmarkTask(
        "hot",
        MeasuredLock.PLAIN,
        List.of(library + ":hot"),
        NameSharing.PROCESSES,
        2,
        0,
        0,
        BenchmarkTask.Latency.WAIT,
        folder.resolve(library + ".counter").toString());
  }

  private static BenchmarkTask catalogue(LockLibrary library) {
    return new BenchmarkTask(
        "catalogue",
        MeasuredLock.READ,
        List.of(library + ":catalogue"),
        NameSharing.THREADS,
        2,
        10,
        0.1,
        BenchmarkTask.Latency.WAIT,
        null);
  }
}
