package io.mortise.it.compositeprocesses;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.it.compositeprocesses.ProcessTeam.Result;
import io.mortise.it.support.Names;
import io.mortise.it.support.ProxiedServers;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes with our composite locks, and processes with Redisson's, over the same names. */
@Timeout(120)
class RedissonProcessesTest {
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final int SECTIONS = 60;
  private static final int LEAST_HOLDS = 3;

  @Test
  void quorumLocksOfBothKindsExcludeEachOtherAndAllProgress(@TempDir Path log) throws Exception {
    String name = Names.fresh();
    try (ProxiedServers nodes = new ProxiedServers(3);
        ProcessTeam team = new ProcessTeam(nodes.proxyUris(), log, LEASE, 2)) {
      team.add(SectionLocks.RED, name);
      team.add(SectionLocks.RED, name);
      team.add(SectionLocks.REDISSON_RED, name);
      team.add(SectionLocks.REDISSON_RED, name);
      judge(team, log, name);
    }
  }

  @Test
  void locksOfAllMembersOfBothKindsExcludeEachOtherAndAllProgress(@TempDir Path log)
      throws Exception {
    String a = Names.fresh() + ":a";
    String b = Names.fresh() + ":b";
    try (ProxiedServers nodes = new ProxiedServers(2);
        ProcessTeam team = new ProcessTeam(nodes.proxyUris(), log, LEASE, 2)) {
      team.add(SectionLocks.MULTI, a, b);
      team.add(SectionLocks.MULTI, b, a);
      team.add(SectionLocks.REDISSON_MULTI, a, b);
      team.add(
          SectionLocks.REDISSON_MULTI, a, b); // in another order they would wait for each other
      judge(team, log, a, b);
    }
  }

  private static void judge(ProcessTeam team, Path log, String... names) throws Exception {
    team.begin();
    long start = System.nanoTime();
    team.awaitProgress(names[0], SECTIONS);
    long millis = (System.nanoTime() - start) / 1_000_000;
    team.awaitHoldsOfEach(LEAST_HOLDS);
    Result result =
        team.end(
            "with Redisson over %s, %d sections in %d ms"
                .formatted(List.of(names), SECTIONS, millis));
    assertEquals(List.of(), result.report().overlaps());
    // Redisson has no tokens; ours rise all the same.
    HoldChecker.check(HoldLog.read(log).stream().filter(hold -> hold.fencingToken() > 0).toList())
        .assertSafe();
  }
}
