package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.TestThreads;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * When {@code forceUnlock()} has returned and another client has the lock, no thread of the first
 * client relies on the old hold, however it is handed off or shared.
 */
@Timeout(60)
class ForcedDuringHandOffTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration TIME = Duration.ofSeconds(4);

  @Test
  void byDefault() throws Exception {
    assertNoThreadReliesOnTheOldHold(LockOptions.defaults(), RedisLock::new, RedisLock::new);
  }

  @Test
  void whenAHoldIsHandedOffWithoutLimit() throws Exception {
    assertNoThreadReliesOnTheOldHold(withoutLimit(), RedisLock::new, RedisLock::new);
  }

  /** The rival ignores the queue. */
  @Test
  void whenAHoldIsPassedOnInAFairQueueWithoutLimit() throws Exception {
    assertNoThreadReliesOnTheOldHold(withoutLimit(), RedisFairLock::new, RedisLock::new);
  }

  @Test
  void whenReadersShareAHoldWithoutLimit() throws Exception {
    assertNoThreadReliesOnTheOldHold(
        withoutLimit(),
        (client, name) -> new RedisReadWriteLock(client, name).readLock(),
        (client, name) -> new RedisReadWriteLock(client, name).writeLock());
  }

  private static LockOptions withoutLimit() {
    return LockOptions.builder()
        .tuning(t -> t.maxHandOffs(1_000_000))
        .tuning(t -> t.maxHandOffTime(Duration.ofSeconds(60)))
        .build();
  }

  private static void assertNoThreadReliesOnTheOldHold(
      LockOptions options,
      BiFunction<LockClient, String, DistributedLock> tested,
      BiFunction<LockClient, String, DistributedLock> rivals)
      throws Exception {
    String name = Names.fresh();
    AtomicBoolean rivalIsInside = new AtomicBoolean();
    AtomicInteger bothInside = new AtomicInteger();
    AtomicBoolean stopped = new AtomicBoolean();
    int acquired = 0;
    try (LockClient client = LockClient.create(redis.uri(), options);
        LockClient other = redis.client();
        TestThreads threads = new TestThreads()) {
      DistributedLock lock = tested.apply(client, name);
      for (int i = 0; i < 4; i++) {
        threads.start(
            () -> {
              while (!stopped.get()) {
                cycle(lock, rivalIsInside, bothInside);
              }
            });
      }
      DistributedLock rival = rivals.apply(other, name);
      long endNanos = System.nanoTime() + TIME.toNanos();
      while (System.nanoTime() - endNanos < 0) {
        if (lock.forceUnlock() && rival.tryLock()) {
          acquired++;
          LockSupport.parkNanos(3_000_000); // a thread that was inside has left
          rivalIsInside.set(true);
          LockSupport.parkNanos(3_000_000);
          rivalIsInside.set(false);
          rival.unlock();
        }
      }
      stopped.set(true);
      threads.join(Duration.ofSeconds(30));
    }
    assertTrue(acquired > 0, "the rival never had the lock");
    assertEquals(0, bothInside.get(), "times that both were inside, of " + acquired);
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
        // by this test
      }
    }
  }
}
