package io.mortise.it.peers;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.spi.LockName;
import io.mortise.it.support.ClientRecords;
import io.mortise.it.support.Names;
import io.mortise.it.support.RedissonPeers;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldLog;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.redisson.api.RFencedLock;
import org.redisson.api.RedissonClient;

/** Thousands of cycles of two clients of each kind, all at once. */
@Tag("redis-version")
class RedissonMixTest {
  private static final int THREADS_A_CLIENT = 3;
  private static final int CYCLES_A_THREAD = 300;

  /**
   * Longer than the test: Redisson's last cycles, after ours have ended, do not prolong the key
   * that ours made, and would begin at 1 again after its end.
   */
  private static final Duration TOKEN_RETENTION = Duration.ofMinutes(5);

  @RegisterExtension static final RedissonPeers peers = new RedissonPeers();

  /** Guarded by the locks alone: read, then written. */
  private final AtomicIntegerArray unguarded = new AtomicIntegerArray(2);

  @Test
  @Timeout(120)
  void thousandsOfMixedCyclesDoNotOverlapAndLeaveNothing(@TempDir Path directory) throws Exception {
    List<String> names = List.of(Names.fresh(), Names.freshWithHashTag());
    LockOptions options =
        LockOptions.builder().tuning(t -> t.tokenRetention(TOKEN_RETENTION)).build();
    try (HoldLog log = HoldLog.open(directory);
        LockClient one = peers.client(options);
        LockClient two = peers.client(options);
        TestThreads threads = new TestThreads()) {
      // The first acquisition decides whether the key of the token has a TTL.
      assertTrue(peers.redisson().getFencedLock(names.get(0)).tryLock());
      peers.redisson().getFencedLock(names.get(0)).unlock();
      new RedisLock(one, names.get(1)).tryAcquire().orElseThrow().close();
      int number = 0;
      for (int thread = 0; thread < THREADS_A_CLIENT; thread++) {
        for (LockClient client : List.of(one, two)) {
          String who = "mortise-" + ++number;
          threads.start(() -> ourCycles(client, names, log, who));
        }
        for (RedissonClient client : List.of(peers.redisson(), peers.otherRedisson())) {
          String who = "redisson-" + ++number;
          threads.start(() -> theirCycles(client, names, log, who));
        }
      }
      threads.join(Duration.ofSeconds(90));
      await().until(() -> one.status().holds() == 0 && two.status().holds() == 0);
    }

    HoldChecker.Report report = HoldChecker.check(directory);
    assertEquals(4 * THREADS_A_CLIENT * CYCLES_A_THREAD, report.holds());
    report.assertSafe();
    assertEquals(report.holds(), unguarded.get(0) + unguarded.get(1), "an increment was lost");
    String theirs = new LockName(names.get(0)).tokenKey();
    assertEquals(-1, peers.pttl(theirs), "ours gave it a TTL");
    String ours = new LockName(names.get(1)).tokenKey();
    assertTrue(peers.pttl(ours) > 0, "theirs took its TTL away");
    peers.server().command("DEL", theirs, ours);
    assertNothingStays();
  }

  private void ourCycles(LockClient client, List<String> names, HoldLog log, String who) {
    for (int i = 0; i < CYCLES_A_THREAD; i++) {
      DistributedLock lock = new RedisLock(client, names.get(i % 2));
      lock.lock();
      try {
        hold(log, lock.name(), who, lock.lease().fencingToken(), i % 2);
      } finally {
        lock.unlock();
      }
    }
  }

  private void theirCycles(RedissonClient client, List<String> names, HoldLog log, String who) {
    for (int i = 0; i < CYCLES_A_THREAD; i++) {
      RFencedLock lock = client.getFencedLock(names.get(i % 2));
      long token = lock.lockAndGetToken();
      try {
        hold(log, lock.getName(), who, token, i % 2);
      } finally {
        lock.unlock();
      }
    }
  }

  private void hold(HoldLog log, String name, String who, long token, int counter) {
    int read = unguarded.get(counter);
    HoldLog.Hold hold = log.acquired(name, who, token);
    unguarded.set(counter, read + 1);
    hold.released();
  }

  /** Only marks are left, by which Redisson detects its own repetitions; all have a TTL. */
  private static void assertNothingStays() {
    List<String> left = new ArrayList<>();
    for (Object key : (List<?>) peers.server().command("KEYS", "*")) {
      String name = (String) key;
      long ttl = peers.pttl(name);
      assertTrue(name.startsWith("redisson_unlock_latch:") || ClientRecords.isRecord(name), name);
      assertTrue(ttl != -1, () -> name + " has no TTL");
      left.add(name + " for " + ttl + " ms");
    }
    System.out.println("left after the mixed cycles: " + left);
    await().atMost(Duration.ofMinutes(1)).until(() -> ClientRecords.otherKeys(peers.server()) == 0);
  }
}
