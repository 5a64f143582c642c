package io.mortise.it.compositeprocesses;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.compositeprocesses.ProcessTeam.Result;
import io.mortise.it.support.Names;
import io.mortise.it.support.ProxiedServers;
import io.mortise.it.support.ServerFault;
import io.mortise.testkit.JavaProcess;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process is killed, and one is suspended, while it holds a quorum lock that others wait for, and
 * while one of the nodes is dead.
 */
@Timeout(120)
class RedLockHolderTest {
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final int SECTIONS = 10;

  /** The delay that a busy machine may add. */
  private static final long SLACK_MILLIS = 5_000;

  private final String name = Names.fresh();

  @Test
  void theOthersProgressIfAHolderIsKilledOrSuspendedForItsLeaseAndItsLateWriteIsRefused(
      @TempDir Path log) throws Exception {
    try (ProxiedServers nodes = new ProxiedServers(5);
        ProcessTeam team = new ProcessTeam(nodes.proxyUris(), log, LEASE, 2)) {
      JavaProcess killed = team.add(SectionLocks.RED, name);
      JavaProcess suspended = team.add(SectionLocks.RED, name);
      team.add(SectionLocks.RED, name);
      team.add(SectionLocks.RED, name);
      team.begin();
      team.awaitProgress(name, SECTIONS);
      nodes.begin(ServerFault.KILLED, 0);

      ProcessTeam.keep(killed);
      long waited = team.millisToNextSection(name, killed::kill);
      assertTrue(waited < LEASE.toMillis() + SLACK_MILLIS, () -> waited + " ms");
      team.awaitProgress(name, SECTIONS);

      long token = ProcessTeam.keep(suspended);
      long slept = team.millisToNextSection(name, suspended::pause);
      assertTrue(slept < LEASE.toMillis() + SLACK_MILLIS, () -> slept + " ms");
      team.awaitProgress(name, SECTIONS);
      suspended.resume();
      suspended.send("go");
      assertEquals("refused", suspended.awaitLine("refused", ProcessTeam.LIMIT));
      suspended.awaitLine("lost EXPIRED: ", ProcessTeam.LIMIT);

      nodes.restore(0);
      team.awaitProgress(name, SECTIONS);
      Result result =
          team.end(
              "RedLock on 5 nodes, next holder %d ms after a kill, %d ms after a pause"
                  .formatted(waited, slept));
      result.report().assertSafe();
      assertEquals(1, result.report().unfinished(), "of the killed process");
      assertEquals(1, result.refused(), "of the suspended process");
      assertTrue(token > 0);
    }
  }
}
