package io.mortise.it.fairlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.ClientRecords;
import io.mortise.it.support.RedissonPeers;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Thousands of cycles of two clients of each kind on one fair lock, all at once. */
@Tag("redis-version")
class RedissonMixTest {
  private static final int THREADS_A_CLIENT = 3;
  private static final int CYCLES_A_THREAD = 250;
  private static final Duration WAITER_TIMEOUT = Duration.ofSeconds(10);

  @RegisterExtension static final RedissonPeers peers = new RedissonPeers();

  @RegisterExtension final ServedOrder order = new ServedOrder(peers, WAITER_TIMEOUT);

  /** Guarded by the lock alone: read, then written. */
  private int unguarded;

  @Test
  @Timeout(90)
  void thousandsOfMixedCyclesDoNotOverlapAndLeaveNothing(@TempDir Path directory) throws Exception {
    LockOptions options =
        LockOptions.builder().tuning(t -> t.tokenRetention(Duration.ofSeconds(1))).build();
    int cycles = 0;
    try (LockClient one = peers.client(options);
        LockClient two = peers.client(options);
        HoldLog log = HoldLog.open(directory);
        TestThreads threads = new TestThreads()) {
      peers.server().resetStats();
      long start = System.nanoTime();
      for (int thread = 0; thread < THREADS_A_CLIENT; thread++) {
        for (LockClient client : List.of(one, two)) {
          String who = "mortise-" + cycles;
          threads.start(() -> ours(order.lock(client), log, who));
          cycles += CYCLES_A_THREAD;
        }
        for (RedissonClient client : List.of(peers.redisson(), peers.otherRedisson())) {
          String who = "redisson-" + cycles;
          threads.start(() -> theirs(client.getFairLock(order.name), log, who));
          cycles += CYCLES_A_THREAD;
        }
      }
      threads.join(Duration.ofSeconds(80));
      double seconds = (System.nanoTime() - start) / 1e9;
      System.out.printf("%d mixed fair cycles in %.1f s%n", cycles, seconds);
      order.awaitNothingLeft();
      // Only the token is left, and it has a TTL.
      await().until(() -> ClientRecords.otherKeys(peers.server()) == 0);
    }
    assertEquals(cycles, unguarded);
    HoldChecker.Report report = HoldChecker.check(directory);
    assertEquals(cycles, report.holds());
    assertEquals(0, report.unfinished());
    assertEquals(List.of(), report.overlaps(), report::toString);
  }

  private void ours(RedisFairLock lock, HoldLog log, String who) {
    for (int cycle = 0; cycle < CYCLES_A_THREAD; cycle++) {
      lock.lock();
      try {
        count(log, lock.name(), who, lock.lease().fencingToken());
      } finally {
        lock.unlock();
      }
    }
  }

  /** Redisson's fair lock has no tokens. */
  private void theirs(RLock lock, HoldLog log, String who) {
    for (int cycle = 0; cycle < CYCLES_A_THREAD; cycle++) {
      lock.lock();
      try {
        count(log, lock.getName(), who, 0);
      } finally {
        lock.unlock();
      }
    }
  }

  private void count(HoldLog log, String name, String who, long token) {
    int seen = unguarded;
    HoldLog.Hold hold = log.acquired(name, who, token);
    unguarded = seen + 1;
    hold.released();
  }
}
