package io.mortise.it.certainty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.it.support.TestThreads;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A re-entry that extends the lease, with default options, leaves no hold behind. */
@Timeout(60)
class LeaseExtensionTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension final LockFixture tested = LockFixture.proxied(redis, LockOptions.builder());

  private final FaultProxy proxy = tested.proxy();
  private final LockClient client = tested.client();
  private final RedisLock lock = tested.lock();

  private static void awaitFree(RedisLock lock) {
    Eventually.until("the lock is free", () -> !redis.exists(lock.name()));
  }

  @Test
  void anExtensionWhoseReplyIsLostLeavesNoHoldBehind() {
    lock.withLease(Duration.ofSeconds(1)).lock();
    proxy.loseNextReply(LossStyle.SILENT, FaultProxy.containing(lock.name()));

    assertThrows(RuntimeException.class, () -> lock.withLease(Duration.ofHours(1)).lock());

    assertThrows(LeaseLostException.class, lock::unlock);
    proxy.restore();
    awaitFree(lock);
    Eventually.until("nothing is pending", () -> client.status().pendingReleases() == 0);
  }

  @Test
  void aFailedExtensionIsReleasedByTheUnlock() {
    lock.lock();
    proxy.loseNextReply(LossStyle.SILENT, FaultProxy.containing(lock.name()));

    assertThrows(LockException.class, () -> lock.withLease(Duration.ofHours(1)).lock());

    lock.unlock();
    assertFalse(redis.exists(lock.name()));
  }

  @Test
  void anExtensionThatArrivesAfterTheEndLeavesNoHoldBehind() {
    RedisLock warm = new RedisLock(client, Names.fresh());
    warm.withLease(Duration.ofSeconds(5)).lock();
    warm.withLease(Duration.ofSeconds(10)).lock();
    warm.unlock();
    warm.unlock();
    proxy.delay(Duration.ofMillis(30));
    for (int round = 0; round < 10; round++) {
      RedisLock lock = new RedisLock(client, Names.fresh());
      lock.withLease(Duration.ofMillis(400)).lock();
      Lease lease = lock.lease();
      Eventually.until("it is nearly over", () -> lease.remaining().toMillis() <= 50);
      try {
        lock.withLease(Duration.ofHours(1)).lock();
        lock.unlock();
      } catch (LeaseLostException expected) {
        // the reply arrives after the end
      }
      unlock(lock);
      awaitFree(lock);
    }
  }

  /** One thread sees the old deadline, and another has just extended the hold. */
  @Test
  void anExtendedHoldIsNotLostAtItsOldDeadline() throws Exception {
    LockClient direct = tested.otherClient();
    AtomicInteger lostAfterwards = new AtomicInteger();
    long endNanos = System.nanoTime() + Duration.ofSeconds(4).toNanos();
    try (TestThreads threads = new TestThreads()) {
      for (int i = 0; i < 6; i++) {
        threads.start(
            () -> {
              while (System.nanoTime() - endNanos < 0) {
                if (extendsAndLoses(new RedisLock(direct, Names.fresh()))) {
                  lostAfterwards.incrementAndGet();
                }
              }
            });
      }
      threads.join(Duration.ofSeconds(30));
    }
    assertEquals(0, lostAfterwards.get(), "lost long before the deadline that was shown");
    Eventually.until("no lock is left", () -> redis.command("KEYS", "it:*").equals(List.of()));
  }

  private static boolean extendsAndLoses(RedisLock lock) {
    try {
      lock.withLease(Duration.ofMillis(5)).lock();
    } catch (LockException tooLate) {
      return false;
    }
    LockSupport.parkNanos(1_000L * (1_500 + ThreadLocalRandom.current().nextInt(1_600)));
    boolean entered = false;
    boolean lost = false;
    try {
      lock.lock();
      entered = true;
    } catch (LeaseLostException tooLate) {
      // it had expired
    }
    Lease lease = lock.lease();
    if (entered || lease.remaining().toMillis() > 1_000) {
      LockSupport.parkNanos(300_000);
      lost = lease.state() == Lease.State.LOST;
    }
    unlock(lock);
    if (entered) {
      unlock(lock);
    }
    return lost;
  }

  private static void unlock(RedisLock lock) {
    try {
      lock.unlock();
    } catch (IllegalMonitorStateException lost) {
      // this test is about what stays in Redis
    }
  }
}
