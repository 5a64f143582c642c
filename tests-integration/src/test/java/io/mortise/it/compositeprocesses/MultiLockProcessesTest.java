package io.mortise.it.compositeprocesses;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.it.compositeprocesses.ProcessTeam.Result;
import io.mortise.it.support.Names;
import io.mortise.it.support.ProxiedServers;
import io.mortise.testkit.JavaProcess;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Processes that contend for the same two locks: one acquires a and b, one b and a, and one
 * acquires b and then a separately, against the order in which every MultiLock acquires them.
 */
class MultiLockProcessesTest {
  private static final Duration LEASE = Duration.ofSeconds(4);
  private static final int SECTIONS = 30;
  private static final int LEAST_HOLDS = 10;

  @ParameterizedTest(name = "{0} servers")
  @ValueSource(ints = {1, 2})
  @Timeout(120)
  void eachMemberExcludesAndAllProgressEvenIfAHolderIsKilled(int count, @TempDir Path log)
      throws Exception {
    String a = Names.fresh() + ":a";
    String b = Names.fresh() + ":b";
    try (ProxiedServers servers = new ProxiedServers(count);
        ProcessTeam team =
            new ProcessTeam(servers.proxyUris().stream().sorted().toList(), log, LEASE, 2)) {
      team.add(SectionLocks.MULTI, a, b);
      team.add(SectionLocks.MULTI, b, a);
      team.add(SectionLocks.ONE_BY_ONE, b, a);
      JavaProcess killed = team.add(SectionLocks.MULTI, b, a);
      team.begin();
      long begin = System.nanoTime();
      team.awaitProgress(a, SECTIONS);
      long millis = (System.nanoTime() - begin) / 1_000_000;
      ProcessTeam.keep(killed);
      long waited = team.millisToNextSection(a, killed::kill);
      team.awaitProgress(b, SECTIONS);
      team.awaitHoldsOfEach(LEAST_HOLDS);
      Result result =
          team.end(
              "MultiLock on %d servers, %d sections in %d ms, next holder %d ms after a kill"
                  .formatted(count, SECTIONS, millis, waited));
      result.report().assertSafe();
      assertEquals(2, result.report().unfinished(), "both of the killed process");
      result.assertHoldersWrote(LEASE);
    }
  }
}
