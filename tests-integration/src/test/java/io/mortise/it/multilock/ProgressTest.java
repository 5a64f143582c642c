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
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * All acquisitions make progress, also beside others that acquire the members in another order, and
 * no holds overlap.
 */
class ProgressTest {
  private static final int ROUNDS = 40;
  private static final Duration LIMIT = Duration.ofSeconds(150);

  @RegisterExtension static final MemberServers servers = new MemberServers(2);

  /** Two locks of one process: on one server, or on two. */
  private record Pair(List<LockClient> clients, RedisLock a, RedisLock b) {
    static Pair of(int count) {
      List<LockClient> clients = IntStream.range(0, count).mapToObj(servers::client).toList();
      return new Pair(
          clients,
          new RedisLock(clients.get(0), servers.name(0)),
          new RedisLock(clients.get(count - 1), servers.name(1)));
    }
  }

  @ParameterizedTest(name = "{0} servers")
  @ValueSource(ints = {1, 2})
  @Timeout(180)
  void eachThreadAcquiresTheMembersInItsOwnOrder(int count, @TempDir Path directory)
      throws Exception {
    Pair one = Pair.of(count);
    Pair two = Pair.of(count);
    Pair three = Pair.of(count);
    try (HoldLog log = HoldLog.open(directory);
        TestThreads threads = new TestThreads()) {
      long start = System.nanoTime();
      threads.start(() -> together(new MultiLock(one.a(), one.b()), one, log, "ab"));
      threads.start(() -> together(new MultiLock(two.b(), two.a()), two, log, "ba"));
      threads.start(() -> oneByOne(three, log, "b then a"));
      threads.join(LIMIT);
      System.out.printf(
          "%d rounds each of [ab, ba, b then a] on %d servers: %d ms%n",
          ROUNDS, count, (System.nanoTime() - start) / 1_000_000);
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

  /** In the reverse of the order of a MultiLock. */
  private static void oneByOne(Pair pair, HoldLog log, String who) {
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
