package io.mortise.it.compositeprocesses;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.compositeprocesses.ProcessTeam.Counts;
import io.mortise.it.support.Names;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.JavaProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process is killed, and one is suspended, while it holds a quorum lock that others wait for, and
 * while one of the nodes is dead.
 */
@Timeout(120)
class RedLockHolderTest {
  private static final Duration LEASE = Duration.ofMillis(1500);
  private static final int SECTIONS = 10;

  /** How late somebody may be on a busy machine. */
  private static final long SLACK_MILLIS = 5_000;

  private final String name = Names.fresh();

  @Test
  void theOthersGoOnWhenAHolderIsKilledOrSleepsThroughItsLeaseAndItsLateWriteIsRefused(
      @TempDir Path log) throws Exception {
    try (Nodes nodes = Nodes.start(5);
        ProcessTeam team = new ProcessTeam(nodes, log, LEASE, 2)) {
      JavaProcess killed = team.add(SectionLocks.RED, name);
      JavaProcess sleeper = team.add(SectionLocks.RED, name);
      team.add(SectionLocks.RED, name);
      team.add(SectionLocks.RED, name);
      team.begin();
      team.awaitProgress(name, SECTIONS);
      nodes.server(0).kill();

      ProcessTeam.keep(killed);
      long waited = millisWithoutProgress(nodes, team, killed::kill);
      assertTrue(waited < LEASE.toMillis() + SLACK_MILLIS, () -> waited + " ms");

      long token = ProcessTeam.keep(sleeper);
      long slept = millisWithoutProgress(nodes, team, sleeper::pause);
      assertTrue(slept < LEASE.toMillis() + SLACK_MILLIS, () -> slept + " ms");
      sleeper.resume();
      sleeper.send("go");
      assertEquals("refused", sleeper.awaitLine("refused", ProcessTeam.PATIENCE));
      assertEquals("lost EXPIRED", sleeper.awaitLine("lost", ProcessTeam.PATIENCE));

      nodes.server(0).restart();
      team.awaitProgress(name, SECTIONS);
      List<Counts> counts = team.end();
      HoldChecker.Report report = team.judge();
      System.out.printf(
          "RedLock on 5 nodes: next holder %d ms after a kill, %d ms after a pause; %s; %s%s%n",
          waited, slept, report, counts, team.complaints());
      report.assertSafe();
      assertEquals(1, report.unfinished(), "that of the killed one");
      assertEquals(1, counts.stream().mapToInt(Counts::refused).sum(), "that of the sleeper");
      FencedCounters.assertNothingLost(nodes.safe, name);
      assertTrue(token > 0);
    }
  }

  /** From what befalls the holder until somebody else has done his section. */
  private long millisWithoutProgress(Nodes nodes, ProcessTeam team, Runnable fault) {
    long before = FencedCounters.writes(nodes.safe, name);
    fault.run();
    long start = System.nanoTime();
    await()
        .atMost(ProcessTeam.PATIENCE)
        .pollInterval(Duration.ofMillis(10))
        .until(() -> FencedCounters.writes(nodes.safe, name) > before);
    long millis = (System.nanoTime() - start) / 1_000_000;
    team.awaitProgress(name, SECTIONS);
    return millis;
  }
}
