package io.mortise.it.handoff;

import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.EngineTypes;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.StackTraces;
import io.mortise.it.support.TestThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
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

  static LockOptions.Builder options(int maxHandOffs, Duration maxTime) {
    return LockOptions.builder()
        .tuning(t -> t.maxHandOffs(maxHandOffs))
        .tuning(t -> t.maxHandOffTime(maxTime))
        .tuning(t -> t.subscriptionLinger(Duration.ofMillis(100)));
  }

  /** Without one that a test reaches. */
  private static LockOptions.Builder withoutLimit() {
    return options(100, Duration.ofMinutes(1));
  }

  private String holder() {
    return (String) redis.holders(name).get(0);
  }

  /** The holder in Redis and the fencing token, as a thread with the lock saw them. */
  private record Observed(String holder, long token) {}

  /** Starts threads that lock, observe and unlock, and waits until all are in the local queue. */
  private List<Future<Observed>> startQueue(RedisLock lock, int length) {
    List<Future<Observed>> queue = new ArrayList<>();
    for (int i = 0; i < length; i++) {
      queue.add(
          threads.ask(
              () -> {
                lock.lock();
                try {
                  return new Observed(holder(), lock.lease().fencingToken());
                } finally {
                  lock.unlock();
                }
              }));
    }
    awaitQueued(length);
    until("one name is contended", () -> tested.client().status().contended() == 1);
    return queue;
  }

  /** Waits until that many threads of this JVM are in a local queue. */
  static void awaitQueued(int count) {
    until(
        count + " threads are queued",
        () ->
            Thread.getAllStackTraces().values().stream()
                    .filter(stack -> StackTraces.contain(stack, EngineTypes.QUEUE))
                    .count()
                == count);
  }

  /** Returns the holders in the order of their tokens, which must differ. */
  private static List<String> holders(List<Future<Observed>> queue) throws Exception {
    List<Observed> all = new ArrayList<>();
    for (Future<Observed> each : queue) {
      all.add(each.get(20, TimeUnit.SECONDS));
    }
    all.sort(Comparator.comparingLong(Observed::token));
    assertEquals(all.size(), all.stream().map(Observed::token).distinct().count());
    return all.stream().map(Observed::holder).toList();
  }

  private void awaitFree() {
    until("the lock is free", () -> !redis.exists(name));
  }

  @Test
  void theHolderInRedisStaysAndTheTokensIncrease() throws Exception {
    Lease first = lock.tryAcquire().orElseThrow();
    List<Future<Observed>> queue = startQueue(lock, 8);
    String firstHolder = holder();
    first.close();

    List<String> holders = holders(queue);

    // The first in the queue asked Redis, with the others behind it, and handed its hold off.
    assertEquals(1, holders.stream().distinct().count(), holders::toString);
    assertFalse(holders.contains(firstHolder), "a hold without waiters was not handed off");
    awaitFree();
    Lease last = lock.tryAcquire().orElseThrow();
    for (Future<Observed> each : queue) {
      assertTrue(last.fencingToken() > each.get().token());
    }
    last.close();
  }

  @Test
  void itIsReleasedInRedisAfterMaxHandOffs() throws Exception {
    RedisLock lock = tested.use(options(3, Duration.ofMinutes(1)));
    Lease first = lock.tryAcquire().orElseThrow();
    List<Future<Observed>> queue = startQueue(lock, 12);
    first.close();
    List<String> holders = holders(queue);
    for (int i = 0; i < 12; i += 4) {
      assertEquals(1, holders.subList(i, i + 4).stream().distinct().count(), holders::toString);
    }
    assertEquals(3, holders.stream().distinct().count(), holders::toString);
  }

  @Test
  void itIsReleasedInRedisAfterMaxHandOffTime() throws Exception {
    RedisLock lock = tested.use(options(100, Duration.ZERO));
    Lease first = lock.tryAcquire().orElseThrow();
    List<Future<Observed>> queue = startQueue(lock, 5);
    first.close();
    assertEquals(5, holders(queue).stream().distinct().count());
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
  void waitsThatTimeOutDuringAHandOffLeaveNothing() throws Exception {
    for (int i = 0; i < 6; i++) {
      threads.start(
          () -> {
            for (int cycle = 0; cycle < 1_500; cycle++) {
              if (lock.tryLock(Duration.ofNanos(ThreadLocalRandom.current().nextInt(300_000)))) {
                lock.unlock();
              }
            }
          });
    }
    threads.join(Duration.ofSeconds(60));
    awaitFree();
    ClientResources.awaitNone(tested.client());
  }

  @Test
  void aForcedReleaseNotifiesTheHolderAfterTheHandOff() throws Exception {
    List<Lease> acquired = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch done = new CountDownLatch(1);
    Lease first = lock.tryAcquire().orElseThrow();
    for (int i = 0; i < 2; i++) {
      threads.start(
          () -> {
            Lease lease = lock.acquire(Duration.ofSeconds(30)).orElseThrow();
            acquired.add(lease);
            if (acquired.size() == 2) {
              done.await();
            } else {
              lease.close();
            }
          });
    }
    awaitQueued(2);
    first.close();
    until("the second has it", () -> acquired.size() == 2);
    assertTrue(lock.forceUnlock());
    until("it is lost", () -> acquired.get(1).loss().isPresent());
    assertEquals(Reason.FORCED, acquired.get(1).loss().orElseThrow().reason());
    done.countDown();
  }

  @Test
  void aClientThatIsClosedReleasesAHoldThatIsBeingHandedOff() throws Exception {
    for (int round = 0; round < 20; round++) {
      RedisLock lock = tested.use(withoutLimit());
      LockClient client = tested.client();
      for (int i = 0; i < 4; i++) {
        threads.start(
            () -> {
              try {
                while (true) {
                  lock.lock();
                  lock.unlock();
                }
              } catch (LockException | IllegalMonitorStateException closed) {
                assertTrue(client.isClosed());
              }
            });
      }
      until("they work", () -> client.status().contended() > 0);
      client.close();
      threads.join(Duration.ofSeconds(20));
      assertFalse(redis.exists(name), "after round " + round);
      assertThrows(LockException.class, lock::lock);
    }
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
