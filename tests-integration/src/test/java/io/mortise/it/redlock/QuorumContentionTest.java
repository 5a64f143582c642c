package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockOptions;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Many want it at the same time: each gets it, one at a time, without splitting the votes. */
@Timeout(120)
class QuorumContentionTest {
  private static final int CONTENDERS = 8;
  private static final int NODES = 5;
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final LockOptions OPTIONS = LockOptions.defaults();

  private static FaultyNodes nodes;

  private final String name = Names.fresh();

  @TempDir Path logs;

  @BeforeAll
  static void start() {
    nodes = FaultyNodes.start(NODES);
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  /** Each of the locks is taken so often, on a thread of its own; the scripts that cost. */
  private double scriptsPerHold(List<DistributedLock> locks, int rounds) throws Exception {
    for (int i = 0; i < NODES; i++) {
      nodes.server(i).resetStats();
    }
    AtomicInteger holds = new AtomicInteger();
    long start = System.nanoTime();
    try (HoldLog log = HoldLog.open(logs);
        TestThreads crew = new TestThreads()) {
      for (int i = 0; i < locks.size(); i++) {
        DistributedLock lock = locks.get(i);
        String holder = "contender-" + i;
        crew.start(
            () -> {
              for (int round = 0; round < rounds; round++) {
                lock.lock();
                try {
                  HoldLog.Hold hold = log.acquired(name, holder, lock.lease().fencingToken());
                  holds.incrementAndGet();
                  hold.released();
                } finally {
                  lock.unlock();
                }
              }
            });
      }
      crew.join(LIMIT);
    }
    long millis = (System.nanoTime() - start) / 1_000_000;
    HoldChecker.Report report = HoldChecker.check(logs);
    report.assertSafe();
    assertEquals(locks.size() * rounds, report.holds());
    assertEquals(report.holds(), holds.get());
    long scripts = 0;
    for (int i = 0; i < NODES; i++) {
      scripts += nodes.server(i).commandStats().getOrDefault("evalsha", 0L);
    }
    double each = (double) scripts / report.holds();
    System.out.printf(
        "%d contenders, %d holds on %d nodes: %d ms, %.1f scripts a hold%n",
        locks.size(), report.holds(), NODES, millis, each);
    return each;
  }

  @Test
  void manyThreadsOfOneProcess() throws Exception {
    try (QuorumClients here = nodes.direct(OPTIONS, Duration.ofMillis(500)).warm()) {
      List<DistributedLock> locks = new ArrayList<>();
      for (int i = 0; i < CONTENDERS; i++) {
        locks.add(here.lock(name));
      }
      double scripts = scriptsPerHold(locks, 50);
      // Alone: acquire, raise and release on each node. In a crowd some ballots are lost.
      assertTrue(scripts < 12 * NODES, () -> scripts + " scripts a hold");
      nodes.awaitHolding(name, 0);
    }
  }

  @Test
  void manyProcesses() throws Exception {
    List<QuorumClients> parties = new ArrayList<>();
    try {
      List<DistributedLock> locks = new ArrayList<>();
      for (int i = 0; i < CONTENDERS; i++) {
        parties.add(nodes.direct(OPTIONS, Duration.ofMillis(500)).warm());
        locks.add(parties.get(i).lock(name));
      }
      double scripts = scriptsPerHold(locks, 25);
      assertTrue(scripts < 20 * NODES, () -> scripts + " scripts a hold");
      nodes.awaitHolding(name, 0);
    } finally {
      parties.forEach(QuorumClients::close);
    }
  }

  @Test
  void manyProcessesAfterAMinorityHasRestartedEmpty() throws Exception {
    List<QuorumClients> parties = new ArrayList<>();
    try {
      List<DistributedLock> locks = new ArrayList<>();
      for (int i = 0; i < CONTENDERS; i++) {
        parties.add(nodes.direct(OPTIONS, Duration.ofMillis(500)).warm());
        locks.add(parties.get(i).lock(name));
      }
      nodes.begin(NodeFault.RESTARTED_EMPTY, List.of(0, 2));
      double scripts = scriptsPerHold(locks, 10);
      assertTrue(scripts < 20 * NODES, () -> scripts + " scripts a hold");
      nodes.awaitHolding(name, 0);
    } finally {
      parties.forEach(QuorumClients::close);
    }
  }
}
