package io.mortise.it.compositeprocesses;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.it.compositeprocesses.ProcessTeam.Counts;
import io.mortise.it.support.Names;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Processes contend for a quorum lock while one minority of its nodes after the other is out of
 * order.
 *
 * <p><b>When a node may come back empty.</b> A holder is safe as long as the nodes that would grant
 * the lock to somebody else (those it does not have, and those that have forgotten it) are no
 * majority. It may have no more than a bare majority; then a single node that forgets at once
 * breaks the exclusion, and RedLock promises nothing else. So a node comes back empty here either
 * when it has been away for a lease, so that all grants it has forgotten are over; or while a
 * holder has all the other nodes, and the next one only when that holder has all nodes again, or is
 * gone.
 */
class RedLockUnderFaultsTest {
  private static final Duration LEASE = Duration.ofMillis(1500);
  private static final int PROCESSES = 4;
  private static final int THREADS = 2;
  private static final int ROUNDS = 8;
  private static final int RESTARTS = 3;

  private static final List<MinorityFault> FAULTS = List.of(MinorityFault.values());

  /** Sections that have to be done while a minority is out of order, and when it is back. */
  private static final int SECTIONS = 10;

  private static final int LEAST_SHARE = 10;

  @ParameterizedTest(name = "{0} nodes")
  @ValueSource(ints = {3, 5})
  @Timeout(150)
  void noHoldsOverlapAndAllProcessesProgressWhateverBefallsAMinority(int count, @TempDir Path log)
      throws Exception {
    String name = Names.fresh();
    long seed = System.nanoTime();
    try (Nodes nodes = Nodes.start(count);
        ProcessTeam team = new ProcessTeam(nodes, log, LEASE, THREADS)) {
      for (int i = 0; i < PROCESSES; i++) {
        team.add(SectionLocks.RED, name);
      }
      team.begin();
      team.awaitProgress(name, SECTIONS);
      Random random = new Random(seed);
      for (int round = 0; round < ROUNDS; round++) {
        strike(nodes, team, name, random);
        if (round % (ROUNDS / RESTARTS) == 0) {
          restartAMinorityEmptyUnderAHolderOfAll(nodes, log, name, random);
        }
        team.awaitProgress(name, SECTIONS);
      }
      team.awaitShares(LEAST_SHARE);
      List<Counts> counts = team.end();

      HoldChecker.Report report = team.judge();
      System.out.printf(
          "RedLock on %d nodes, seed %d: %s; %s%s%n",
          count, seed, report, counts, team.complaints());
      report.assertSafe();
      FencedCounters.assertNothingLost(nodes.safe, name);
      assertEquals(0, counts.stream().mapToInt(Counts::refused).sum());
    }
  }

  /** A minority is out of order until enough has been done without it. */
  private static void strike(Nodes nodes, ProcessTeam team, String name, Random random) {
    List<Integer> struck = minority(nodes, random);
    List<MinorityFault> faults = new ArrayList<>();
    Duration least = Duration.ZERO;
    for (int node : struck) {
      MinorityFault fault = FAULTS.get(random.nextInt(FAULTS.size()));
      fault.strike(nodes, node);
      faults.add(fault);
      least = Collections.max(List.of(least, fault.atLeast(LEASE)));
    }
    long struckNanos = System.nanoTime();
    long leastNanos = least.toNanos();
    team.awaitProgress(name, SECTIONS);
    await().atMost(ProcessTeam.PATIENCE).until(() -> System.nanoTime() - struckNanos >= leastNanos);
    for (int i = 0; i < faults.size(); i++) {
      faults.get(i).mend(nodes, struck.get(i));
    }
  }

  private static List<Integer> minority(Nodes nodes, Random random) {
    List<Integer> all = new ArrayList<>(IntStream.range(0, nodes.count()).boxed().toList());
    Collections.shuffle(all, random);
    return all.subList(0, nodes.minority());
  }

  /** The holder is this process; it takes them again before it goes. */
  private static void restartAMinorityEmptyUnderAHolderOfAll(
      Nodes nodes, Path directory, String name, Random random) throws InterruptedException {
    LockOptions options = LockOptions.builder().lease(LEASE).build();
    List<LockClient> clients =
        nodes.uris().stream().map(uri -> LockClient.create(uri, options)).toList();
    try (HoldLog log = HoldLog.open(directory)) {
      RedLock lock = SectionLocks.redLock(clients, name);
      try (QuorumLease lease = (QuorumLease) lock.acquire(ProcessTeam.PATIENCE).orElseThrow()) {
        HoldLog.Hold hold = log.acquired(name, "the test", lease.fencingToken());
        awaitAllNodes(nodes, clients, lease);
        for (int node : minority(nodes, random)) {
          nodes.server(node).kill();
          nodes.server(node).restart();
        }
        awaitAllNodes(nodes, clients, lease);
        assertTrue(lease.isValid());
        hold.released();
      }
    } finally {
      clients.forEach(LockClient::close);
    }
  }

  /** Asks the nodes too: the lease learns only from its next renewal that one has forgotten it. */
  private static void awaitAllNodes(Nodes nodes, List<LockClient> clients, QuorumLease lease) {
    try {
      await()
          .atMost(ProcessTeam.PATIENCE)
          .until(
              () ->
                  lease.validNodes() == lease.nodes()
                      && IntStream.range(0, nodes.count())
                          .allMatch(i -> nodes.isHeldBy(i, lease.lockName(), clients.get(i))));
    } catch (ConditionTimeoutException e) {
      throw new AssertionError(lease + "; on the nodes: " + nodes.holders(lease.lockName()), e);
    }
  }
}
