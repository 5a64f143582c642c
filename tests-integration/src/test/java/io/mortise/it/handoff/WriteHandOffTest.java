package io.mortise.it.handoff;

import static io.mortise.it.handoff.Turns.awaitQueued;
import static io.mortise.it.handoff.Turns.holds;
import static io.mortise.it.handoff.Turns.inOrder;
import static io.mortise.it.handoff.Turns.options;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.it.handoff.Turns.Turn;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.TestThreads;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A write hold that is handed off between the threads of a client, and the turn of the readers. */
@Timeout(120)
class WriteHandOffTest {
  private static final int MAX_HAND_OFFS = 5;

  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension final TestThreads threads = new TestThreads();

  @RegisterExtension
  final LockFixture tested =
      LockFixture.direct(redis, options(MAX_HAND_OFFS, Duration.ofMinutes(1)));

  private final String name = tested.name();
  private final RedisReadWriteLock lock = new RedisReadWriteLock(tested.client(), name);

  /** Queues threads that write once, lets them go when all wait, and returns their turns. */
  private List<Turn> writeInTurn(RedisReadWriteLock lock, int count) throws Exception {
    DistributedLock write = lock.writeLock();
    Lease gate = write.tryAcquire().orElseThrow();
    List<Future<Turn>> queue = Turns.start(threads, redis, write, count);
    if (lock.isFair()) {
      until("all are in the queue in Redis", () -> lock.queueLength() == count);
    } else {
      awaitQueued(count);
    }
    gate.close();
    return inOrder(queue);
  }

  private void awaitFree() {
    until("the lock is free", () -> !redis.exists(name));
  }

  @Test
  void theHoldInRedisStaysUntilMaxHandOffsAndTheTokensIncrease() throws Exception {
    List<Turn> turns = writeInTurn(lock, 12);
    assertEquals(1, holds(turns.subList(0, 6)), turns::toString);
    assertEquals(1, holds(turns.subList(6, 12)), turns::toString);
    assertEquals(2, holds(turns), turns::toString);
    awaitFree();
    try (Lease later = lock.writeLock().tryAcquire().orElseThrow()) {
      assertTrue(later.fencingToken() > turns.get(11).token());
    }
  }

  @Test
  void aFairLockHandsNoHoldOff() throws Exception {
    assertEquals(6, holds(writeInTurn(RedisReadWriteLock.fair(tested.client(), name), 6)));
    awaitFree();
  }

  /**
   * A run of write holds counts as one: the readers that wait when it ends have their turn before
   * the next writer, those of the same client as those of another.
   */
  @Test
  void readersThatWaitDuringARunEnterAtItsEnd() throws Exception {
    DistributedLock write = lock.writeLock();
    DistributedLock[] reads = {
      lock.readLock(), new RedisReadWriteLock(tested.otherClient(), name).readLock()
    };
    AtomicInteger writes = new AtomicInteger();
    CountDownLatch firstWrites = new CountDownLatch(1);
    CountDownLatch readersWait = new CountDownLatch(1);
    Lease gate = write.tryAcquire().orElseThrow();
    for (int i = 0; i < 4 * MAX_HAND_OFFS; i++) {
      threads.start(
          () -> {
            write.lock();
            writes.incrementAndGet();
            firstWrites.countDown();
            readersWait.await();
            write.unlock();
          });
    }
    awaitQueued(4 * MAX_HAND_OFFS);
    gate.close();
    firstWrites.await();
    List<Future<Integer>> writesBefore = new ArrayList<>();
    for (DistributedLock read : reads) {
      writesBefore.add(
          threads.ask(
              () -> {
                read.lock();
                int before = writes.get();
                read.unlock();
                return before;
              }));
    }
    until(
        "both readers wait",
        () -> redis.command("ZCARD", "mortise_read_waiters:{" + name + "}").equals(2L));
    readersWait.countDown();
    for (Future<Integer> each : writesBefore) {
      assertEquals(1 + MAX_HAND_OFFS, each.get(20, TimeUnit.SECONDS));
    }
    threads.join(Duration.ofSeconds(20));
    awaitFree();
  }

  @Test
  void readersAndAWriterOfAnotherClientGetInWithDefaultOptions() throws Exception {
    tested.use(LockOptions.builder());
    RedisReadWriteLock here = new RedisReadWriteLock(tested.client(), name);
    RedisReadWriteLock there = new RedisReadWriteLock(tested.otherClient(), name);
    CountDownLatch done = new CountDownLatch(1);
    TestThreads writers = new TestThreads();
    for (int i = 0; i < 4; i++) {
      writers.start(
          () -> {
            while (done.getCount() > 0) {
              here.writeLock().lock();
              here.writeLock().unlock();
            }
          });
    }
    until("they work", () -> tested.client().status().contended() > 0);
    for (DistributedLock each : List.of(here.readLock(), there.readLock(), there.writeLock())) {
      threads.start(
          () -> {
            long longest = 0;
            for (int i = 0; i < 50; i++) {
              long start = System.nanoTime();
              assertTrue(each.tryLock(Duration.ofSeconds(20)), each + ", cycle " + i);
              longest = Math.max(longest, System.nanoTime() - start);
              each.unlock();
            }
            System.out.printf("%s: the longest wait is %.1f ms%n", each, longest / 1e6);
          });
    }
    threads.join(Duration.ofSeconds(60));
    done.countDown();
    writers.join(Duration.ofSeconds(20));
    writers.close();
    awaitFree();
  }
}
