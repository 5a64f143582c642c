package io.mortise.it.rwlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.it.support.ClientRecords;
import io.mortise.it.support.RedissonPeers;
import io.mortise.it.support.TestThreads;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.HoldChecker;
import io.mortise.testkit.HoldLog;
import io.mortise.testkit.HoldLog.Mode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;

/** Thousands of cycles of readers and writers of both kinds, all at once; no key stays. */
@Tag("redis-version")
class RedissonMixedReadersTest {
  private static final int THREADS_A_CLIENT = 3;
  private static final int CYCLES_A_THREAD = 250;
  private static final String OURS = "mortise";

  @RegisterExtension static final RedissonPeers peers = new RedissonPeers();

  /** Two counters for each lock, which only the lock keeps equal. */
  private final AtomicIntegerArray guarded = new AtomicIntegerArray(4);

  @ParameterizedTest(name = "one client fair: {0}, the other: {1}")
  @CsvSource({"false, false", "true, true", "false, true"})
  @Timeout(120)
  void thousandsOfMixedCyclesDoNotOverlapAndLeaveNothing(
      boolean oneIsFair, boolean twoIsFair, @TempDir Path directory) throws Exception {
    List<String> names =
        List.of(ReadWriteFixture.freshName(), "{" + ReadWriteFixture.freshName() + "}:order");
    LockOptions options =
        LockOptions.builder().tuning(t -> t.tokenRetention(Duration.ofSeconds(2))).build();
    long start = System.nanoTime();
    try (HoldLog log = HoldLog.open(directory);
        LockClient one = peers.client(options);
        LockClient two = peers.client(options);
        TestThreads threads = new TestThreads()) {
      int number = 0;
      for (int i = 0; i < THREADS_A_CLIENT; i++) {
        for (boolean first : List.of(true, false)) {
          String ours = OURS + "-" + number++;
          LockClient client = first ? one : two;
          boolean fair = first ? oneIsFair : twoIsFair;
          threads.start(() -> ourCycles(client, fair, names, log, ours));
          String theirs = "redisson-" + number++;
          RedissonClient peer = first ? peers.redisson() : peers.otherRedisson();
          threads.start(() -> theirCycles(peer, names, log, theirs));
        }
      }
      threads.join(Duration.ofSeconds(90));
    }
    double seconds = (System.nanoTime() - start) / 1e9;

    List<HoldLog.Entry> entries = HoldLog.read(directory);
    HoldChecker.Report all = HoldChecker.check(entries);
    assertEquals(List.of(), all.overlaps(), all::toString);
    assertTrue(all.holds() >= 4 * THREADS_A_CLIENT * CYCLES_A_THREAD, all::toString);
    assertTrue(all.mostReaders() > 1, all::toString);
    // Redisson's writers have no tokens, so the order of tokens is checked among ours.
    HoldChecker.Report ours =
        HoldChecker.check(entries.stream().filter(e -> e.holder().startsWith(OURS)).toList());
    ours.assertSafe();
    System.out.printf(
        "fair %s and %s: %d holds, at most %d readers, %d overlaps, in %.1f s%n",
        oneIsFair, twoIsFair, all.holds(), all.mostReaders(), all.overlaps().size(), seconds);
    assertNothingStays();
  }

  private void ourCycles(
      LockClient client, boolean fair, List<String> names, HoldLog log, String who) {
    for (int i = 0; i < CYCLES_A_THREAD; i++) {
      int place = i % 2;
      RedisReadWriteLock lock =
          ReadWriteFixture.lock(
              client, names.get(place), fair, RedisReadWriteLock.DEFAULT_WAITER_TIMEOUT);
      boolean writes = i % 3 == 0;
      DistributedLock side = writes ? lock.writeLock() : lock.readLock();
      side.lock();
      HoldLog.Hold hold =
          log.acquired(
              lock.name(), who, side.lease().fencingToken(), writes ? Mode.EXCLUSIVE : Mode.SHARED);
      visit(place, writes);
      if (i % 9 == 0) { // a downgrade
        lock.readLock().lock();
        hold.released();
        lock.writeLock().unlock();
        HoldLog.Hold read =
            log.acquired(lock.name(), who, lock.readLock().lease().fencingToken(), Mode.SHARED);
        visit(place, false);
        read.released();
        lock.readLock().unlock();
      } else {
        hold.released();
        side.unlock();
      }
    }
  }

  private void theirCycles(RedissonClient client, List<String> names, HoldLog log, String who) {
    for (int i = 0; i < CYCLES_A_THREAD; i++) {
      int place = i % 2;
      RReadWriteLock lock = client.getReadWriteLock(names.get(place));
      boolean writes = i % 3 == 0;
      (writes ? lock.writeLock() : lock.readLock()).lock();
      HoldLog.Hold hold =
          log.acquired(names.get(place), who, 0, writes ? Mode.EXCLUSIVE : Mode.SHARED);
      visit(place, writes);
      if (i % 9 == 0) {
        lock.readLock().lock();
        hold.released();
        lock.writeLock().unlock();
        HoldLog.Hold read = log.acquired(names.get(place), who, 0, Mode.SHARED);
        visit(place, false);
        read.released();
        lock.readLock().unlock();
      } else {
        hold.released();
        (writes ? lock.writeLock() : lock.readLock()).unlock();
      }
    }
  }

  private void visit(int place, boolean writes) {
    int first = guarded.get(2 * place);
    if (writes) {
      guarded.set(2 * place, first + 1);
      Thread.onSpinWait();
      guarded.set(2 * place + 1, first + 1);
    } else {
      LockSupport.parkNanos(200_000); // so that readers overlap
      assertEquals(guarded.get(2 * place + 1), first, "a torn read");
    }
  }

  /**
   * Tokens live for their retention time, and Redisson's marks of its own repetitions for as long
   * as a command may take. All keys have a TTL, and after it none exists.
   */
  private static void assertNothingStays() {
    assertEquals(List.of(), ReadWriteFixture.keys(peers.server(), ""));
    List<String> left = new ArrayList<>();
    for (Object key : (List<?>) peers.server().command("KEYS", "*")) {
      String name = (String) key;
      assertNotEquals(-1, peers.pttl(name), name);
      left.add(name.substring(0, name.indexOf(':')));
    }
    System.out.println("left for a while: " + left.stream().distinct().toList());
    await().atMost(Duration.ofMinutes(1)).until(() -> ClientRecords.otherKeys(peers.server()) == 0);
  }
}
