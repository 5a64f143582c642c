package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.TestThreads;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Whatever the order in which others take the members, everybody makes progress, and nobody
 * overlaps.
 */
class ProgressTest {
  private static final int ROUNDS = 40;
  private static final Duration PATIENCE = Duration.ofSeconds(150);

  @RegisterExtension static final MemberServers sites = new MemberServers(2);

  /** Two locks of one process: on one server, or on two. */
  private record Pair(List<LockClient> clients, RedisLock a, RedisLock b) implements AutoCloseable {
    static Pair of(int servers) {
      List<LockClient> clients = new ArrayList<>();
      for (int i = 0; i < servers; i++) {
        clients.add(sites.client(i));
      }
      return new Pair(
          clients,
          new RedisLock(clients.get(0), sites.name(0)),
          new RedisLock(clients.get(servers - 1), sites.name(1)));
    }

    @Override
    public void close() {
      clients.forEach(LockClient::close);
    }
  }

  @ParameterizedTest(name = "{0} servers")
  @ValueSource(ints = {1, 2})
  @Timeout(180)
  void everybodyTakesTheMembersInAnOrderOfHisOwn(int servers, @TempDir Path directory)
      throws Exception {
    try (Pair one = Pair.of(servers);
        Pair two = Pair.of(servers);
        Pair three = Pair.of(servers);
        HoldLog log = HoldLog.open(directory);
        TestThreads crew = new TestThreads()) {
      long start = System.nanoTime();
      crew.start(() -> together(new MultiLock(one.a(), one.b()), one, log, "ab"));
      crew.start(() -> together(new MultiLock(two.b(), two.a()), two, log, "ba"));
      crew.start(() -> byHand(three, log, "b then a"));
      crew.join(PATIENCE);
      System.out.printf(
          "%d rounds each of [ab, ba, b then a] on %d servers: %d ms%n",
          ROUNDS, servers, (System.nanoTime() - start) / 1_000_000);
      for (Pair pair : List.of(one, two, three)) {
        pair.clients().forEach(ClientResources::awaitNone);
      }
    }
    HoldChecker.Report report = HoldChecker.check(directory);
    assertEquals(3 * 2 * ROUNDS, report.holds());
    report.assertSafe();
  }

  private static void together(DistributedLock both, Pair pair, HoldLog log, String who) {
    for (int i = 0; i < ROUNDS; i++) {
      both.lock();
      try {
        long token = both.lease().fencingToken();
        HoldLog.Hold a = log.acquired(pair.a().name(), who, token);
        HoldLog.Hold b = log.acquired(pair.b().name(), who, token);
        b.released();
        a.released();
      } finally {
        both.unlock();
      }
    }
  }

  /** In the order in which a MultiLock does not. */
  private static void byHand(Pair pair, HoldLog log, String who) {
    for (int i = 0; i < ROUNDS; i++) {
      pair.b().lock();
      try {
        HoldLog.Hold b = log.acquired(pair.b().name(), who, pair.b().lease().fencingToken());
        pair.a().lock();
        try {
          log.acquired(pair.a().name(), who, pair.a().lease().fencingToken()).released();
        } finally {
          pair.a().unlock();
        }
        b.released();
      } finally {
        pair.b().unlock();
      }
    }
  }
}
