package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.it.support.TestThreads;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Once {@code forceUnlock()} has returned and another client has the lock, no thread of the first
 * client enters by the hold that was taken from it, however that hold passes between its threads.
 */
@Timeout(60)
class ForcedDuringHandOffTest {
  private static final Duration TIME = Duration.ofSeconds(4);

  private static RedisServer server;

  @BeforeAll
  static void start() {
    server = RedisServer.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @Test
  void byDefault() throws Exception {
    assertNobodyEntersByTheOldHold(LockOptions.defaults(), RedisLock::new, RedisLock::new);
  }

  @Test
  void whenAHoldPassesOnForAsLongAsItLikes() throws Exception {
    assertNobodyEntersByTheOldHold(passingOnForLong(), RedisLock::new, RedisLock::new);
  }

  @Test
  void whenReadersShareAHoldForAsLongAsTheyLike() throws Exception {
    assertNobodyEntersByTheOldHold(
        passingOnForLong(),
        (client, name) -> new RedisReadWriteLock(client, name).readLock(),
        (client, name) -> new RedisReadWriteLock(client, name).writeLock());
  }

  private static LockOptions passingOnForLong() {
    return LockOptions.builder()
        .maxHandOffs(1_000_000)
        .maxHandOffTime(Duration.ofSeconds(60))
        .build();
  }

  @FunctionalInterface
  private interface Family {
    DistributedLock lock(LockClient client, String name);
  }

  private static void assertNobodyEntersByTheOldHold(
      LockOptions options, Family family, Family rivals) throws Exception {
    String name = Names.fresh();
    AtomicBoolean rivalIsInside = new AtomicBoolean();
    AtomicInteger bothInside = new AtomicInteger();
    AtomicBoolean over = new AtomicBoolean();
    int had = 0;
    try (LockClient client = LockClient.create(server.uri(), options);
        LockClient other = LockClient.create(server.uri());
        TestThreads crew = new TestThreads()) {
      DistributedLock lock = family.lock(client, name);
      for (int i = 0; i < 4; i++) {
        crew.start(
            () -> {
              while (!over.get()) {
                cycle(lock, rivalIsInside, bothInside);
              }
            });
      }
      DistributedLock rival = rivals.lock(other, name);
      long endNanos = System.nanoTime() + TIME.toNanos();
      while (System.nanoTime() - endNanos < 0) {
        if (lock.forceUnlock() && rival.tryLock()) {
          had++;
          LockSupport.parkNanos(3_000_000); // who was inside has left
          rivalIsInside.set(true);
          LockSupport.parkNanos(3_000_000);
          rivalIsInside.set(false);
          rival.unlock();
        }
      }
      over.set(true);
      crew.join(Duration.ofSeconds(30));
    }
    assertTrue(had > 0, "the rival never had the lock");
    assertEquals(0, bothInside.get(), "times that both were inside, of " + had);
  }

  private static void cycle(
      DistributedLock lock, AtomicBoolean rivalIsInside, AtomicInteger bothInside) {
    lock.lock();
    try {
      Lease lease = lock.lease();
      if (rivalIsInside.get() && lease.isValid() && rivalIsInside.get() && lease.isValid()) {
        bothInside.incrementAndGet();
      }
    } finally {
      try {
        lock.unlock();
      } catch (LeaseLostException forced) {
        // which is what this test does to it
      }
    }
  }
}
