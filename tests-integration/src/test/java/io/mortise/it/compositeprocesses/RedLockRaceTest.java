package io.mortise.it.compositeprocesses;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.support.Names;
import io.mortise.it.support.ProxiedServers;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.JavaProcess;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** All threads ask five nodes at the same moment, so that they split the votes. */
class RedLockRaceTest {
  private static final int PROCESSES = 4;
  private static final int THREADS = 2;
  private static final int RACES = 20;
  private static final Duration LEASE = Duration.ofSeconds(10);

  /** Between the command and the start: enough to reach all processes. */
  private static final long NOTICE_NANOS = 50_000_000;

  /** On a busy machine; an idle one needs some milliseconds. */
  private static final long MOST_MILLIS = 10_000;

  /**
   * Each of the 8 threads splits the votes a few times, then all but the first at a node wait
   * there: 5 requests and 5 releases a round, 4 rounds each, some waits.
   */
  private static final long MOST_SCRIPTS_AN_ACQUISITION = 80;

  @Test
  @Timeout(120)
  void oneWinsSoonAndAllAcquireWhenAllAskAtOnce(@TempDir Path log) throws Exception {
    List<Long> first = new ArrayList<>();
    List<Long> last = new ArrayList<>();
    List<JavaProcess> children = new ArrayList<>();
    try (ProxiedServers nodes = new ProxiedServers(5)) {
      String name = Names.fresh();
      for (int i = 0; i < PROCESSES; i++) {
        children.add(
            ProcessTeam.start(
                RaceProcess.class,
                String.join(",", nodes.proxyUris()),
                name,
                log.toString(),
                Long.toString(LEASE.toMillis()),
                Integer.toString(THREADS)));
      }
      for (JavaProcess child : children) {
        child.awaitLine("ready", ProcessTeam.LIMIT);
      }
      race(children); // connections, scripts, classes
      long before = nodes.scriptCalls();
      for (int race = 0; race < RACES; race++) {
        List<Long> millis = race(children);
        first.add(Collections.min(millis));
        last.add(Collections.max(millis));
      }
      long scripts = nodes.scriptCalls() - before;
      double each = (double) scripts / (RACES * PROCESSES * THREADS);
      System.out.printf(
          "8 at once on 5 nodes, %d races: first %s, last %s; %.1f EVALSHA an acquisition%n",
          RACES, spread(first), spread(last), each);
      assertTrue(Collections.max(first) < MOST_MILLIS, () -> "first " + first);
      assertTrue(each < MOST_SCRIPTS_AN_ACQUISITION, () -> each + " scripts");
    } finally {
      children.forEach(JavaProcess::close);
    }
    HoldChecker.Report report = HoldChecker.check(log);
    report.assertSafe();
    assertEquals((RACES + 1) * PROCESSES * THREADS, report.holds());
  }

  /** Returns the milliseconds from the start to each entry. */
  private static List<Long> race(List<JavaProcess> children) throws InterruptedException {
    long start = System.nanoTime() + NOTICE_NANOS;
    children.forEach(child -> child.send("race " + start));
    List<Long> millis = new ArrayList<>();
    for (JavaProcess child : children) {
      for (int thread = 0; thread < THREADS; thread++) {
        String line = child.awaitLine("in ", ProcessTeam.LIMIT);
        millis.add((Long.parseLong(line.split(" ", -1)[1]) - start) / 1_000_000);
      }
    }
    return millis;
  }

  private static String spread(List<Long> millis) {
    List<Long> sorted = millis.stream().sorted().toList();
    return "median %d ms, 90 %% %d ms, most %d ms"
        .formatted(
            sorted.get(sorted.size() / 2),
            sorted.get(sorted.size() * 9 / 10),
            sorted.get(sorted.size() - 1));
  }
}
