package io.mortise.benchmarks.cases;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.benchmarks.locks.ListSection;
import io.mortise.benchmarks.locks.LockKind;
import io.mortise.benchmarks.locks.Sharing;
import io.mortise.benchmarks.locks.Subject;
import io.mortise.benchmarks.measure.Sample;
import io.mortise.benchmarks.worker.Work;
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
    try (Stage stage = Stage.open(1)) {
      for (LockKind kind :
          List.of(LockKind.PLAIN, LockKind.FAIR, LockKind.WRITE, LockKind.READ, LockKind.MULTI)) {
        stage.add(
            kind.label(),
            Map.of(),
            subject ->
                Work.own(
                    kind.label() + subject,
                    kind,
                    List.of(subject + ":" + kind + ":a", subject + ":" + kind + ":b"),
                    1),
            null);
      }
      stage.add("catalogue", Map.of(), SmokeTest::catalogue, null);
      for (Contest contest : stage.contests()) {
        for (Subject subject : contest.entrants().keySet()) {
          judge(contest, subject);
        }
      }
    }
  }

  @Test
  void processesShareOneNameAndItsHandOver(@TempDir Path folder) throws Exception {
    try (Stage stage = Stage.open(2)) {
      stage.server().command("RPUSH", ListSection.key("FLOOR:hot"), "1");
      stage.add("hot", Map.of(), subject -> hot(subject, folder), null);
      for (Subject subject : Subject.values()) {
        Sample sample = judge(stage.contests().get(0), subject);
        assertTrue(sample.figures().get("hand_over_p50_us") > 0, subject.label());
        double shares =
            sample.figures().get("process_1_share") + sample.figures().get("process_2_share");
        assertEquals(2, shares, 0.001, subject.label());
      }
    }
  }

  private static Sample judge(Contest contest, Subject subject) throws InterruptedException {
    Sample sample = contest.entrants().get(subject).run(MOMENT);
    String what = contest.label() + " by " + subject;
    assertNull(sample.complaint(), what);
    assertTrue(sample.opsPerSecond() > 0, what);
    assertTrue(sample.latencies().count() > 0, what);
    assertTrue(sample.p50Micros() > 0 && sample.p50Micros() <= sample.p99Micros(), what);
    assertTrue(sample.commandsPerOp() > 0, what);
    return sample;
  }

  private static Work hot(Subject subject, Path folder) {
    return new Work(
        "hot",
        LockKind.PLAIN,
        List.of(subject + ":hot"),
        Sharing.PROCESSES,
        2,
        0,
        0,
        Work.Latency.WAIT,
        folder.resolve(subject + ".board").toString());
  }

  private static Work catalogue(Subject subject) {
    return new Work(
        "catalogue",
        LockKind.READ,
        List.of(subject + ":catalogue"),
        Sharing.THREADS,
        2,
        10,
        0.1,
        Work.Latency.WAIT,
        null);
  }
}
