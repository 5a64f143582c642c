package io.mortise.it.compositeprocesses;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.it.compositeprocesses.ProcessTeam.Counts;
import io.mortise.it.support.Names;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes with our locks of locks, and processes with Redisson's, over the same names. */
@Timeout(120)
class RedissonProcessesTest {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final int SECTIONS = 60;
  private static final int LEAST_SHARE = 3;

  @Test
  void quorumLocksOfBothKindsExcludeEachOtherAndAllProgress(@TempDir Path log) throws Exception {
    String name = Names.fresh();
    try (Nodes nodes = Nodes.start(3);
        ProcessTeam team = new ProcessTeam(nodes, log, LEASE, 2)) {
      team.add(SectionLocks.RED, name);
      team.add(SectionLocks.RED, name);
      team.add(SectionLocks.REDISSON_RED, name);
      team.add(SectionLocks.REDISSON_RED, name);
      judge(nodes, team, log, name);
    }
  }

  @Test
  void locksOfAllMembersOfBothKindsExcludeEachOtherAndAllProgress(@TempDir Path log)
      throws Exception {
    String a = Names.fresh() + ":a";
    String b = Names.fresh() + ":b";
    try (Nodes nodes = Nodes.start(2);
        ProcessTeam team = new ProcessTeam(nodes, log, LEASE, 2)) {
      team.add(SectionLocks.MULTI, a, b);
      team.add(SectionLocks.MULTI, b, a);
      team.add(SectionLocks.REDISSON_MULTI, a, b);
      team.add(SectionLocks.REDISSON_MULTI, a, b); // in another order they wait for each other
      judge(nodes, team, log, a, b);
    }
  }

  private static void judge(Nodes nodes, ProcessTeam team, Path log, String... names)
      throws Exception {
    team.begin();
    long start = System.nanoTime();
    team.awaitProgress(names[0], SECTIONS);
    long millis = (System.nanoTime() - start) / 1_000_000;
    team.awaitShares(LEAST_SHARE);
    List<Counts> counts = team.end();
    HoldChecker.Report report = team.judge();
    System.out.printf(
        "with Redisson over %s: %d sections in %d ms; %d holds, %d overlaps; %s%s%n",
        List.of(names),
        SECTIONS,
        millis,
        report.holds(),
        report.overlaps().size(),
        counts,
        team.complaints());
    assertEquals(List.of(), report.overlaps());
    for (String name : names) {
      FencedCounters.assertNothingLost(nodes.safe, name);
    }
    // Theirs have no tokens; ours rise all the same.
    HoldChecker.check(HoldLog.read(log).stream().filter(hold -> hold.fencingToken() > 0).toList())
        .assertSafe();
  }
}
