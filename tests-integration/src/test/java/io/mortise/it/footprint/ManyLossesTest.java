package io.mortise.it.footprint;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LoggedWarnings;
import io.mortise.it.support.Names;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.RedisServer;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Thousands of holds that are lost at once take few threads to report. */
@Tag("alone")
class ManyLossesTest {
  private static final int HOLDS = 10_000;
  private static final int COMPOSITE_HOLDS = 2_000;
  private static final int MAX_THREADS = 100;

  @Test
  @Timeout(120)
  void theReportsOfManyLossesShareFewThreads() {
    LoggedWarnings.note();
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    try (RedisServer server = RedisServer.start();
        LockClient client = LockClient.create(server.uri())) {
      String prefix = Names.fresh() + ":";
      List<Lease> leases = new ArrayList<>();
      for (int i = 0; i < HOLDS; i++) {
        leases.add(new RedisLock(client, prefix + i).tryAcquire().orElseThrow());
      }
      server.command("FLUSHALL");
      int before = threads.getThreadCount();
      threads.resetPeakThreadCount();

      loseConnections(server, client, prefix);
      Eventually.until("all are lost", () -> leases.stream().noneMatch(Lease::isValid));
      Eventually.until("all are reported", () -> LoggedWarnings.about(prefix).size() == HOLDS);

      assertFewThreads(HOLDS, threads.getPeakThreadCount() - before);
    }
  }

  private static void assertFewThreads(int losses, int started) {
    System.out.printf("%,d losses: %d threads more%n", losses, started);
    assertTrue(started <= MAX_THREADS, () -> started + " threads");
  }

  /** Each loses one member; the release of the other waits for a server that is silent. */
  @Test
  @Timeout(120)
  void theReportsAndReleasesOfManyLostMultiLocksShareFewThreads() {
    LoggedWarnings.note();
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    try (RedisServer lost = RedisServer.start();
        RedisServer silent = RedisServer.start();
        LockClient first = LockClient.create(lost.uri());
        LockClient second = LockClient.create(silent.uri())) {
      String prefix = Names.fresh() + ":";
      List<Lease> leases = new ArrayList<>();
      for (int i = 0; i < COMPOSITE_HOLDS; i++) {
        MultiLock lock =
            new MultiLock(new RedisLock(first, prefix + i), new RedisLock(second, prefix + i));
        leases.add(lock.tryAcquire().orElseThrow());
      }
      lost.command("FLUSHALL");
      silent.pause();
      int before = threads.getThreadCount();
      threads.resetPeakThreadCount();

      loseConnections(lost, first, prefix);
      Eventually.until("all are lost", () -> leases.stream().noneMatch(Lease::isValid));
      Eventually.until(
          "all are reported", () -> LoggedWarnings.about(prefix).size() == COMPOSITE_HOLDS);

      assertFewThreads(COMPOSITE_HOLDS, threads.getPeakThreadCount() - before);
      silent.resume();
      Eventually.until("all are released", () -> second.status().pendingReleases() == 0);
    }
  }

  private static void loseConnections(RedisServer server, LockClient client, String prefix) {
    server.command("CLIENT", "KILL", "TYPE", "normal");
    try (Lease other = new RedisLock(client, prefix).tryAcquire().orElseThrow()) {
      assertTrue(other.isValid(), "it has found the connection broken");
    }
  }
}
