package io.mortise.it.compositeprocesses;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.it.compositeprocesses.ProcessTeam.Counts;
import io.mortise.it.support.Names;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.JavaProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Processes that want the same two locks: one asks for a and b, one for b and a, and one takes b
 * and then a by itself, which nobody can order.
 */
class MultiLockProcessesTest {
  private static final Duration LEASE = Duration.ofMillis(1500);
  private static final int SECTIONS = 30;
  private static final int LEAST_SHARE = 10;

  @ParameterizedTest(name = "{0} servers")
  @ValueSource(ints = {1, 2})
  @Timeout(120)
  void eachMemberExcludesAndEverybodyProgressesAlsoWhenAHolderIsKilled(
      int servers, @TempDir Path log) throws Exception {
    String a = Names.fresh() + ":a";
    String b = Names.fresh() + ":b";
    try (Nodes nodes = Nodes.start(servers);
        ProcessTeam team = new ProcessTeam(nodes, log, LEASE, 2)) {
      team.add(SectionLocks.MULTI, a, b);
      team.add(SectionLocks.MULTI, b, a);
      team.add(SectionLocks.BY_HAND, b, a);
      JavaProcess killed = team.add(SectionLocks.MULTI, b, a);
      team.begin();
      long begin = System.nanoTime();
      team.awaitProgress(a, SECTIONS);
      long millis = (System.nanoTime() - begin) / 1_000_000;
      ProcessTeam.keep(killed);
      long start = System.nanoTime();
      killed.kill();
      team.awaitProgress(a, 1);
      long waited = (System.nanoTime() - start) / 1_000_000;
      team.awaitProgress(b, SECTIONS);
      team.awaitShares(LEAST_SHARE);
      List<Counts> counts = team.end();

      HoldChecker.Report report = team.judge();
      System.out.printf(
          "MultiLock on %d servers: %d sections in %d ms, next holder %d ms after a kill; %s; [ab, ba, b then a] %s%s%n",
          servers, SECTIONS, millis, waited, report, counts, team.complaints());
      report.assertSafe();
      assertEquals(2, report.unfinished(), "both of the killed one");
      FencedCounters.assertNothingLost(nodes.safe, a);
      FencedCounters.assertNothingLost(nodes.safe, b);
      assertEquals(0, counts.stream().mapToInt(Counts::refused).sum());
    }
  }
}
