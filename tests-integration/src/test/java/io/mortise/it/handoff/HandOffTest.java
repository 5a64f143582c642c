package io.mortise.it.handoff;

import static io.mortise.it.handoff.Turns.awaitQueued;
import static io.mortise.it.handoff.Turns.holds;
import static io.mortise.it.handoff.Turns.inOrder;
import static io.mortise.it.handoff.Turns.options;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.handoff.Turns.Turn;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.TestThreads;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A hold that is handed off between the threads of a client: how often, to whom, and its end. */
@Timeout(120)
class HandOffTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension final TestThreads threads = new TestThreads();

  @RegisterExtension final LockFixture tested = LockFixture.direct(redis, withoutLimit());

  private final String name = tested.name();
  private final RedisLock lock = tested.lock();

  /** Without one that a test reaches. */
  private static LockOptions.Builder withoutLimit() {
    return options(100, Duration.ofMinutes(1));
  }

  private String holder() {
    return Turns.holder(redis, name);
  }

  /** Starts threads that lock, look and unlock, and waits until all are in the local queue. */
  private List<Future<Turn>> startQueue(RedisLock lock, int length) {
    List<Future<Turn>> queue = Turns.start(threads, redis, lock, length);
    awaitQueued(length);
    until("one name is contended", () -> tested.client().status().contended() == 1);
    return queue;
  }

  private void awaitFree() {
    until("the lock is free", () -> !redis.exists(name));
  }

  @Test
  void theHolderInRedisStaysAndTheTokensIncrease() throws Exception {
    Lease first = lock.tryAcquire().orElseThrow();
    List<Future<Turn>> queue = startQueue(lock, 8);
    String firstHolder = holder();
    first.close();

    List<Turn> turns = inOrder(queue);

    // The first in the queue asked Redis, with the others behind it, and handed its hold off.
    assertEquals(1, holds(turns), turns::toString);
    assertNotEquals(
        firstHolder, turns.get(0).holder(), "a hold without waiters was not handed off");
    awaitFree();
    Lease last = lock.tryAcquire().orElseThrow();
    assertTrue(last.fencingToken() > turns.get(turns.size() - 1).token());
    last.close();
  }

  @Test
  void itIsReleasedInRedisAfterMaxHandOffs() throws Exception {
    RedisLock lock = tested.use(options(3, Duration.ofMinutes(1)));
    Lease first = lock.tryAcquire().orElseThrow();
    List<Future<Turn>> queue = startQueue(lock, 12);
    first.close();
    List<Turn> turns = inOrder(queue);
    for (int i = 0; i < 12; i += 4) {
      assertEquals(1, holds(turns.subList(i, i + 4)), turns::toString);
    }
    assertEquals(3, holds(turns), turns::toString);
  }

  @Test
  void itIsReleasedInRedisAfterMaxHandOffTime() throws Exception {
    RedisLock lock = tested.use(options(100, Duration.ZERO));
    Lease first = lock.tryAcquire().orElseThrow();
    List<Future<Turn>> queue = startQueue(lock, 5);
    first.close();
    assertEquals(5, holds(inOrder(queue)));
  }

  @Test
  void aThreadThatNamesItsLeaseAcquiresItFromRedis() throws Exception {
    Lease first = lock.tryAcquire().orElseThrow();
    Future<String> renewed =
        threads.ask(
            () -> {
              lock.lock();
              awaitQueued(1);
              String holder = holder();
              lock.unlock();
              return holder;
            });
    awaitQueued(1);
    Future<Long> fixed =
        threads.ask(
            () -> {
              lock.withLease(Duration.ofSeconds(5)).lock();
              long ttl = redis.ttlMillis(name);
              lock.unlock();
              return ttl;
            });
    awaitQueued(2);
    first.close();
    assertFalse(renewed.get(20, TimeUnit.SECONDS).isEmpty());
    long ttl = fixed.get(20, TimeUnit.SECONDS);
    assertTrue(ttl > 0 && ttl <= 5_000, () -> "its lease ends in " + ttl + " ms");
    awaitFree();
  }

  @Test
  void anotherClientGetsTheLockInBetween() throws Exception {
    RedisLock lock = tested.use(options(100, Duration.ofMillis(20)));
    CountDownLatch done = new CountDownLatch(1);
    for (int i = 0; i < 4; i++) {
      threads.start(
          () -> {
            while (done.getCount() > 0) {
              lock.lock();
              lock.unlock();
            }
          });
    }
    until("they work", () -> tested.client().status().contended() > 0);
    for (int i = 0; i < 50; i++) {
      assertTrue(tested.lockOfOther().tryLock(Duration.ofSeconds(20)), "cycle " + i);
      tested.lockOfOther().unlock();
    }
    done.countDown();
    threads.join(Duration.ofSeconds(20));
  }
}
