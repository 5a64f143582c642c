package io.mortise.it.handoff;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.support.BriefWait;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.TestThreads;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Read holds of the threads of one client, which are one hold in Redis. */
@Timeout(120)
class SharedReadsTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension final TestThreads threads = new TestThreads();

  @RegisterExtension
  final LockFixture tested = LockFixture.direct(redis, options(100, Duration.ofMinutes(1)));

  private final String name = tested.name();

  private static LockOptions.Builder options(int maxJoins, Duration maxTime) {
    return Turns.options(maxJoins, maxTime).lease(Duration.ofSeconds(6));
  }

  private DistributedLock read() {
    return read(tested.client());
  }

  private DistributedLock read(LockClient client) {
    return new RedisReadWriteLock(client, name).readLock();
  }

  private DistributedLock write(LockClient client) {
    return new RedisReadWriteLock(client, name).writeLock();
  }

  /** Returns how many readers are in Redis; one field of the lock is its mode. */
  private int readers() {
    return Math.max(0, redis.holders(name).size() - 1);
  }

  private List<Lease> acquire(int count) {
    return Stream.generate(() -> read().tryAcquire().orElseThrow()).limit(count).toList();
  }

  /** Lets time pass, so that the last verification of a shared hold does not count any more. */
  private static void awaitMillis(long millis) {
    long start = System.nanoTime();
    until(millis + " ms have passed", () -> System.nanoTime() - start > millis * 1_000_000);
  }

  @Test
  void aLateReleaseOfALostHoldThrowsInEachReader() {
    // No renewal comes in between, which would be a verification.
    tested.use(options(100, Duration.ofSeconds(3)).lease(Duration.ofMinutes(1)));
    List<Lease> leases = acquire(3);
    assertEquals(1, readers());
    awaitMillis(3_100);
    redis.delete(name);

    for (Lease lease : leases) {
      assertThrows(LeaseLostException.class, lease::close);
      assertEquals(Reason.MISSING, lease.loss().orElseThrow().reason());
    }
    ClientResources.awaitNone(tested.client());
  }

  @Test
  void aLateReleaseVerifiesTheHoldOnceForAllReaders() {
    tested.use(options(100, Duration.ofSeconds(3)).lease(Duration.ofMinutes(1)));
    List<Lease> leases = acquire(20);
    awaitMillis(3_100);
    redis.resetStats();

    leases.forEach(Lease::close);

    long sent = redis.calls("evalsha");
    assertTrue(sent >= 2 && sent <= 6, () -> sent + " commands: one verifies, one releases");
    assertEquals(0, readers());
  }

  @Test
  void theyAreOneHoldInRedisUntilTheLastIsReleased() {
    List<Lease> leases = acquire(5);
    assertEquals(1, readers());
    LockClient other = tested.otherClient();
    assertTrue(read(other).tryLock());
    assertEquals(2, readers());
    read(other).unlock();
    for (int i = 0; i < 5; i++) {
      assertFalse(write(other).tryLock(), "with " + (5 - i) + " readers");
      leases.get(i).close();
      leases.get(i).close();
      assertEquals(Lease.State.RELEASED, leases.get(i).state());
    }
    assertEquals(0, readers());
    assertTrue(write(other).tryLock());
    write(other).unlock();
  }

  @Test
  void onlyMaxHandOffsReadersJoin() {
    tested.use(options(3, Duration.ofMinutes(1)));
    List<Lease> leases = acquire(9);
    assertEquals(3, readers(), "one, and three that join it");
    leases.forEach(Lease::close);
    assertEquals(0, readers());
  }

  @Test
  void aLeaseThatACallerNamesIsNotShared() {
    Lease renewed = read().tryAcquire().orElseThrow();
    Lease given = read().withLease(Duration.ofMinutes(1)).tryAcquire().orElseThrow();
    assertEquals(2, readers());
    renewed.close();
    given.close();
  }

  @Test
  void aThreadReentersItsOwnHold() throws Exception {
    Lease other = read().tryAcquire().orElseThrow();
    threads.start(
        () -> {
          read().lock();
          read().lock();
          assertEquals(2, read().holdCount());
          read().unlock();
          read().unlock();
          assertThrows(IllegalMonitorStateException.class, () -> read().unlock());
        });
    threads.join(Duration.ofSeconds(20));
    assertTrue(other.isValid());
    assertEquals(1, readers());
    other.close();
  }

  @Test
  void theyAreRenewedTogetherAndLostTogether() {
    tested.use(options(100, Duration.ofMinutes(1)).lease(Duration.ofSeconds(3)));
    List<Lease> leases = acquire(3);
    List<Reason> notified = new CopyOnWriteArrayList<>();
    leases.forEach(lease -> lease.onLost(loss -> notified.add(loss.reason())));
    holdsFor(
        Duration.ofSeconds(4), "all are valid", () -> leases.stream().allMatch(Lease::isValid));
    redis.delete(name);
    until("all are notified", () -> notified.size() == 3);
    assertEquals(List.of(Reason.MISSING, Reason.MISSING, Reason.MISSING), notified);
    leases.forEach(lease -> assertThrows(LeaseLostException.class, lease::close));
    Lease next = read().tryAcquire().orElseThrow();
    assertTrue(next.isValid());
    next.close();
  }

  @Test
  void aForcedReleaseNotifiesAll() {
    List<Lease> leases = acquire(3);
    assertTrue(read().forceUnlock());
    leases.forEach(
        lease -> {
          assertFalse(lease.isValid());
          assertEquals(Reason.FORCED, lease.loss().orElseThrow().reason());
        });
  }

  @Test
  void theHoldOfThreadsThatAllDiedWithoutUnlockingIsReleased() throws Exception {
    tested.use(options(100, Duration.ofMinutes(1)).lease(Duration.ofSeconds(3)));
    for (int i = 0; i < 2; i++) {
      Thread thread = new Thread(() -> read().lock());
      thread.start();
      thread.join();
    }
    assertEquals(1, readers());
    until("their lease has ended", () -> readers() == 0 || !read().isLocked());
    until("there is no hold", () -> tested.client().status().holds() == 0);
  }

  @Test
  void aWriterThatReadsHasItsOwnReadHold() {
    DistributedLock write = write(tested.client());
    write.lock();
    read().lock();
    write.unlock();
    Lease other = read().tryAcquire().orElseThrow();
    assertEquals(2, readers());
    read().unlock();
    other.close();
    assertEquals(0, readers());
  }

  @Test
  void aWriterAcquiresAlthoughReadersNeverPause() throws Exception {
    tested.use(options(100, Duration.ofMillis(20)));
    AtomicInteger written = new AtomicInteger();
    AtomicInteger inside = new AtomicInteger();
    for (int i = 0; i < 8; i++) {
      threads.start(
          () -> {
            while (written.get() < 20) {
              read().lock();
              inside.incrementAndGet();
              inside.decrementAndGet();
              read().unlock();
            }
          });
    }
    for (int i = 0; i < 20; i++) {
      DistributedLock write = write(i % 2 == 0 ? tested.otherClient() : tested.client());
      assertTrue(write.tryLock(Duration.ofSeconds(20)), "writer " + i);
      assertEquals(0, inside.get());
      written.incrementAndGet();
      write.unlock();
    }
    threads.join(Duration.ofSeconds(20));
    assertEquals(0, readers());
  }

  @Test
  void manyReadersAndTimeOutsLeaveNothing() throws Exception {
    tested.use(options(7, Duration.ofMillis(2)));
    for (int i = 0; i < 8; i++) {
      boolean writes = i == 0;
      threads.start(
          () -> {
            DistributedLock lock = writes ? write(tested.client()) : read();
            for (int cycle = 0; cycle < (writes ? 100 : 2_000); cycle++) {
              Duration wait = Duration.ofNanos(ThreadLocalRandom.current().nextInt(500_000));
              if (BriefWait.tryLock(lock, wait)) {
                lock.unlock();
              }
            }
          });
    }
    threads.join(Duration.ofSeconds(60));
    until("the lock is free", () -> readers() == 0);
    ClientResources.awaitNone(tested.client());
  }

  @Test
  void aClosedClientReleasesThem() throws Exception {
    for (int round = 0; round < 10; round++) {
      tested.use(options(100, Duration.ofMinutes(1)));
      CountDownLatch working = new CountDownLatch(50);
      for (int i = 0; i < 4; i++) {
        threads.start(
            () -> {
              try {
                while (true) {
                  read().lock();
                  working.countDown();
                  read().unlock();
                }
              } catch (LockException | IllegalMonitorStateException closed) {
                assertTrue(tested.client().isClosed());
              }
            });
      }
      working.await();
      tested.client().close();
      threads.join(Duration.ofSeconds(20));
      assertEquals(0, readers(), "after round " + round);
    }
  }
}
