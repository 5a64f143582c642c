package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.it.support.Names;
import io.mortise.it.support.ServerFault;
import io.mortise.it.support.TestThreads;
import io.mortise.redlock.RedLock;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Many contenders acquire it, one at a time, without splitting the votes for long. */
@Timeout(120)
class QuorumContentionTest {
  private static final int CONTENDERS = 8;
  private static final int NODES = 5;
  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final LockOptions OPTIONS = LockOptions.defaults();

  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(NODES);

  private final String name = Names.fresh();

  @TempDir Path logs;

  /** Acquires each lock that often, on its own thread; returns the scripts for one hold. */
  private double scriptsPerHold(List<RedLock> locks, int rounds) throws Exception {
    long before = nodes.scriptCalls();
    AtomicInteger holds = new AtomicInteger();
    long start = System.nanoTime();
    try (HoldLog log = HoldLog.open(logs);
        TestThreads threads = new TestThreads()) {
      for (int i = 0; i < locks.size(); i++) {
        RedLock lock = locks.get(i);
        String holder = "contender-" + i;
        threads.start(
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
      threads.join(LIMIT);
    }
    long millis = (System.nanoTime() - start) / 1_000_000;
    HoldChecker.Report report = HoldChecker.check(logs);
    report.assertSafe();
    assertEquals(locks.size() * rounds, report.holds());
    assertEquals(report.holds(), holds.get());
    double each = (double) (nodes.scriptCalls() - before) / report.holds();
    System.out.printf(
        "%d contenders, %d holds on %d nodes: %d ms, %.1f scripts a hold%n",
        locks.size(), report.holds(), NODES, millis, each);
    return each;
  }

  private static List<QuorumClients> processes(int count) {
    return Stream.generate(() -> nodes.direct(OPTIONS, Duration.ofSeconds(3)))
        .limit(count)
        .toList();
  }

  private void assertScriptsPerHold(List<QuorumClients> processes, int rounds, int limitPerNode)
      throws Exception {
    List<RedLock> locks = processes.stream().map(process -> process.lock(name)).toList();
    double scripts = scriptsPerHold(locks, rounds);
    assertTrue(scripts < limitPerNode * NODES, () -> scripts + " scripts a hold");
  }

  @Test
  void manyThreadsOfOneProcess() throws Exception {
    QuorumClients process = processes(1).get(0);
    // Alone: acquire, raise and release on each node. Under contention some rounds are lost.
    assertScriptsPerHold(Collections.nCopies(CONTENDERS, process), 50, 12);
  }

  @Test
  void manyProcesses() throws Exception {
    assertScriptsPerHold(processes(CONTENDERS), 25, 20);
  }

  @Test
  void manyProcessesAfterAMinorityHasRestartedEmpty() throws Exception {
    List<QuorumClients> processes = processes(CONTENDERS);
    nodes.begin(ServerFault.RESTARTED_EMPTY, 0, 2);
    assertScriptsPerHold(processes, 10, 20);
  }
}
