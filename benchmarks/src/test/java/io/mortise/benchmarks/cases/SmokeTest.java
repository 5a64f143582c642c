package io.mortise.benchmarks.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.benchmarks.locks.ListSection;
import io.mortise.benchmarks.locks.LockKind;
import io.mortise.benchmarks.locks.LockLibrary;
import io.mortise.benchmarks.locks.NameSharing;
import io.mortise.benchmarks.measure.Sample;
import io.mortise.benchmarks.worker.WorkerTask;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** All subjects do all works once, in real processes on a real server. */
@Timeout(120)
class SmokeTest {
  private static final Duration MOMENT = Duration.ofMillis(50);

  @Test
  void everySubjectDoesEveryWorkWithoutAComplaint() throws Exception {
    try (SharedServerSetup stage = SharedServerSetup.open(1)) {
      for (LockKind kind :
          List.of(LockKind.PLAIN, LockKind.FAIR, LockKind.WRITE, LockKind.READ, LockKind.MULTI)) {
        stage.add(
            kind.label(),
            Map.of(),
            subject ->
                WorkerTask.own(
                    kind.label() + subject,
                    kind,
                    List.of(subject + ":" + kind + ":a", subject + ":" + kind + ":b"),
                    1),
            null);
      }
      stage.add("catalogue", Map.of(), SmokeTest::catalogue, null);
      for (Workload contest : stage.contests()) {
        for (LockLibrary subject : contest.entrants().keySet()) {
          judge(contest, subject);
        }
      }
    }
  }

  @Test
  void processesShareOneNameAndItsHandOver(@TempDir Path folder) throws Exception {
    try (SharedServerSetup stage = SharedServerSetup.open(2)) {
      stage.server().command("RPUSH", ListSection.key("FLOOR:hot"), "1");
      stage.add("hot", Map.of(), subject -> hot(subject, folder), null);
      for (LockLibrary subject : LockLibrary.values()) {
        Sample sample = judge(stage.contests().get(0), subject);
        assertTrue(sample.figures().get("hand_over_p50_us") > 0, subject.label());
        double shares =
            sample.figures().get("process_1_share") + sample.figures().get("process_2_share");
        assertEquals(2, shares, 0.001, subject.label());
      }
    }
  }

  private static Sample judge(Workload contest, LockLibrary subject) throws InterruptedException {
    Sample sample = contest.entrants().get(subject).run(MOMENT);
    String what = contest.label() + " by " + subject;
    assertNull(sample.complaint(), what);
    assertTrue(sample.opsPerSecond() > 0, what);
    assertTrue(sample.latencies().count() > 0, what);
    assertTrue(sample.p50Micros() > 0 && sample.p50Micros() <= sample.p99Micros(), what);
    assertTrue(sample.commandsPerOp() > 0, what);
    return sample;
  }

  private static WorkerTask hot(LockLibrary subject, Path folder) {
    return new WorkerTask(
        "hot",
        LockKind.PLAIN,
        List.of(subject + ":hot"),
        NameSharing.PROCESSES,
        2,
        0,
        0,
        WorkerTask.Latency.WAIT,
        folder.resolve(subject + ".board").toString());
  }

  private static WorkerTask catalogue(LockLibrary subject) {
    return new WorkerTask(
        "catalogue",
        LockKind.READ,
        List.of(subject + ":catalogue"),
        NameSharing.THREADS,
        2,
        10,
        0.1,
        WorkerTask.Latency.WAIT,
        null);
  }
}
