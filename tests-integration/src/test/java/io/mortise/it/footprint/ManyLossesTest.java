package io.mortise.it.footprint;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LoggedWarnings;
import io.mortise.it.support.Names;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import io.mortise.testkit.RedisServer;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

  /** A node has lost its data, and the quorum goes on without it. */
  @Test
  @Timeout(120)
  void theReportsOfManyLostNodesShareFewThreads() {
    LoggedWarnings.note();
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    try (RedisServer one = RedisServer.start();
        RedisServer two = RedisServer.start();
        RedisServer lost = RedisServer.start();
        LockClient first = LockClient.create(one.uri());
        LockClient second = LockClient.create(two.uri());
        LockClient third = LockClient.create(lost.uri())) {
      String prefix = Names.fresh() + ":";
      List<Lease> leases = new ArrayList<>();
      for (int i = 0; i < COMPOSITE_HOLDS; i++) {
        leases.add(acquireEverywhere(prefix + i, List.of(first, second, third)));
      }
      int before = threads.getThreadCount();
      threads.resetPeakThreadCount();

      lost.command("FLUSHALL");
      loseConnections(lost, third, prefix);
      Eventually.until("all are reported", () -> locksWithALostNode(prefix) == COMPOSITE_HOLDS);

      assertFewThreads(COMPOSITE_HOLDS, threads.getPeakThreadCount() - before);
      assertTrue(leases.stream().allMatch(Lease::isValid));
    }
  }

  /**
   * A majority is enough for a grant. A hold whose third node is still missing loses nothing when
   * that one loses its data, and ends when another one does. A missing node is acquired within the
   * budget, and a lost one not before half of it: its threads do not count among those of the
   * reports.
   */
  private static Lease acquireEverywhere(String name, List<LockClient> clients) {
    RedLock lock =
        RedLock.builder().members(name, clients).nodeWaitBudget(Duration.ofSeconds(10)).build();
    QuorumLease lease = (QuorumLease) lock.tryAcquire().orElseThrow();
    Eventually.until("all nodes hold it", () -> lease.validNodes() == clients.size());
    return lease;
  }

  private static long locksWithALostNode(String prefix) {
    Pattern warning = Pattern.compile("lock '" + prefix + "(\\d+)': .* does not hold it any more");
    return LoggedWarnings.about(prefix).stream()
        .map(warning::matcher)
        .filter(Matcher::find)
        .map(found -> found.group(1))
        .distinct()
        .count();
  }
}
