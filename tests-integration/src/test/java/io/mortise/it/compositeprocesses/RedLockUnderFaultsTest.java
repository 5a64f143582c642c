package io.mortise.it.compositeprocesses;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.it.compositeprocesses.ProcessTeam.Result;
import io.mortise.it.support.Names;
import io.mortise.it.support.ProxiedServers;
import io.mortise.it.support.ServerFault;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
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
 * Processes contend for a quorum lock while one minority of its nodes after the other fails.
 *
 * <p><b>When a node may come back empty.</b> A holder is safe as long as the nodes that would grant
 * the lock to another (those that it does not have, and those that have forgotten it) are no
 * majority. It may have only a bare majority; then a single node that forgets at once breaks the
 * exclusion, which RedLock does not promise in this case. So a node comes back empty here either
 * after a whole lease, so that all forgotten grants have ended; or while a holder has all the other
 * nodes, and the next one only when that holder has all nodes again, or has released.
 */
class RedLockUnderFaultsTest {
  private static final Duration LEASE = Duration.ofSeconds(2);
  private static final int PROCESSES = 4;
  private static final int THREADS = 2;
  private static final int ROUNDS = 8;
  private static final int RESTARTS = 3;

  private static final List<ServerFault> FAULTS =
      List.of(ServerFault.PAUSED, ServerFault.REFUSING, ServerFault.UNHEARD, ServerFault.KILLED);

  /** The sections during the faults of a minority, and after them. */
  private static final int SECTIONS = 10;

  private static final int LEAST_HOLDS = 10;

  @ParameterizedTest(name = "{0} nodes")
  @ValueSource(ints = {3, 5})
  @Timeout(150)
  void noHoldsOverlapAndAllProcessesProgressWhileAMinorityFails(int count, @TempDir Path log)
      throws Exception {
    String name = Names.fresh();
    long seed = System.nanoTime();
    try (ProxiedServers nodes = new ProxiedServers(count);
        ProcessTeam team = new ProcessTeam(nodes.proxyUris(), log, LEASE, THREADS)) {
      for (int i = 0; i < PROCESSES; i++) {
        team.add(SectionLocks.RED, name);
      }
      team.begin();
      team.awaitProgress(name, SECTIONS);
      Random random = new Random(seed);
      for (int round = 0; round < ROUNDS; round++) {
        failAMinority(nodes, team, name, random);
        if (round % (ROUNDS / RESTARTS) == 0) {
          restartAMinorityEmptyUnderAHolderOfAll(nodes, log, name, random);
        }
        team.awaitProgress(name, SECTIONS);
      }
      team.awaitHoldsOfEach(LEAST_HOLDS);
      Result result = team.end("RedLock on %d nodes, seed %d".formatted(count, seed));
      result.report().assertSafe();
      result.assertHoldersWrote(LEASE);
    }
  }

  /** A minority fails until enough sections are done, and a killed node for at least a lease. */
  private static void failAMinority(
      ProxiedServers nodes, ProcessTeam team, String name, Random random) {
    List<Integer> minority = minority(nodes, random);
    boolean forALease = false;
    for (int node : minority) {
      ServerFault fault = FAULTS.get(random.nextInt(FAULTS.size()));
      nodes.begin(fault, node);
      forALease |= fault == ServerFault.KILLED;
    }
    long endNanos = System.nanoTime() + (forALease ? LEASE.toNanos() : 0);
    team.awaitProgress(name, SECTIONS);
    await().atMost(ProcessTeam.LIMIT).until(() -> System.nanoTime() - endNanos >= 0);
    nodes.restore(minority);
  }

  private static List<Integer> minority(ProxiedServers nodes, Random random) {
    List<Integer> all = new ArrayList<>(IntStream.range(0, nodes.count()).boxed().toList());
    Collections.shuffle(all, random);
    return all.subList(0, (nodes.count() - 1) / 2);
  }

  /** The holder is this process; it reacquires the nodes before it releases. */
  private static void restartAMinorityEmptyUnderAHolderOfAll(
      ProxiedServers nodes, Path directory, String name, Random random)
      throws InterruptedException {
    LockOptions options = LockOptions.builder().lease(LEASE).build();
    List<LockClient> clients =
        nodes.proxyUris().stream().map(uri -> LockClient.create(uri, options)).toList();
    try (HoldLog log = HoldLog.open(directory)) {
      RedLock lock = SectionLocks.redLock(clients, name);
      try (QuorumLease lease = (QuorumLease) lock.acquire(ProcessTeam.LIMIT).orElseThrow()) {
        HoldLog.Hold hold = log.acquired(name, "the test", lease.fencingToken());
        awaitAllNodes(nodes, clients, lease);
        nodes.begin(ServerFault.RESTARTED_EMPTY, minority(nodes, random));
        awaitAllNodes(nodes, clients, lease);
        assertTrue(lease.isValid());
        hold.released();
      }
    } finally {
      clients.forEach(LockClient::close);
    }
  }

  /** Asks the nodes too, because the lease notices a node that forgot it at the next renewal. */
  private static void awaitAllNodes(
      ProxiedServers nodes, List<LockClient> clients, QuorumLease lease) {
    String name = lease.lockName();
    try {
      await()
          .atMost(ProcessTeam.LIMIT)
          .until(
              () ->
                  lease.validNodes() == lease.nodes()
                      && IntStream.range(0, nodes.count())
                          .allMatch(
                              i -> nodes.holders(name, i).contains(clients.get(i).id() + ":")));
    } catch (ConditionTimeoutException e) {
      List<String> holders =
          IntStream.range(0, nodes.count()).mapToObj(i -> nodes.holders(name, i)).toList();
      throw new AssertionError(lease + "; on the nodes: " + holders, e);
    }
  }
}
