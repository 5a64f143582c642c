package io.mortise.it.leases;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Elapsed;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The lease that counts after a re-entry, and its unit. */
@Timeout(60)
class NestedLeaseTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration LONGER = LEASE.multipliedBy(4).dividedBy(3);

  @RegisterExtension
  final LockFixture tested = LockFixture.direct(redis, LockOptions.builder().lease(LEASE));

  private final String name = tested.name();
  private final RedisLock lock = tested.lock();

  private void assertTtl(long atLeast, long atMost) {
    long ttl = redis.ttlMillis(name);
    assertTrue(ttl >= atLeast && ttl <= atMost, () -> "the TTL is " + ttl + " ms");
  }

  @Test
  void aShorterLeaseInsideChangesNothing() {
    lock.withLease(Duration.ofSeconds(60)).lock();
    lock.withLease(Duration.ofMillis(50)).lock();
    assertTtl(40_000, 60_000);
    lock.unlock();
    assertTtl(40_000, 60_000);
    assertTrue(lock.lease().remaining().toMillis() > 40_000);
    lock.unlock();
    assertFalse(redis.exists(name));
  }

  @Test
  void aLongerLeaseInsideExtendsTheHoldOnce() {
    lock.withLease(Duration.ofSeconds(20)).lock();
    lock.withLease(Duration.ofSeconds(60)).lock();
    assertTtl(45_000, 60_000);
    assertTrue(lock.lease().remaining().toMillis() > 40_000);
    lock.withLease(Duration.ofSeconds(60)).lock();
    assertTtl(45_000, 60_000);
    lock.unlock();
    lock.unlock();
    lock.unlock();
    assertFalse(redis.exists(name));
  }

  @Test
  void aShortLeaseInsideARenewedHoldDoesNotEndItsRenewal() {
    lock.lock();
    lock.withLease(Duration.ofMillis(50)).lock();
    lock.unlock();
    holdsFor(LONGER, "renewed", lock::isHeldByCurrentThread);
    lock.unlock();
  }

  @Test
  void aLongLeaseInsideARenewedHoldIsKept() {
    lock.lock();
    lock.withLease(Duration.ofSeconds(60)).lock();
    holdsFor(LEASE, "the TTL stays", () -> redis.ttlMillis(name) > 40_000);
    lock.unlock();
    lock.unlock();
    assertFalse(redis.exists(name));
  }

  @Test
  void aRenewedHoldInsideAFixedOneIsRenewedUntilItsUnlock() {
    lock.withLease(LEASE.minusMillis(1)).lock();
    lock.lock();
    holdsFor(LONGER, "renewed", lock::isHeldByCurrentThread);
    lock.unlock();
    until("then it is not renewed", () -> !lock.isHeldByCurrentThread());
    assertThrows(LeaseLostException.class, lock::unlock);
  }

  @Test
  void aRefusedExtensionDoesNotEndTheHold() {
    lock.lock();
    redis.command("REPLICAOF", "127.0.0.1", "1");
    try {
      assertThrows(LockException.class, () -> lock.withLease(Duration.ofHours(1)).lock());
    } finally {
      redis.command("REPLICAOF", "NO", "ONE");
    }
    assertEquals(1, lock.holdCount(), "as before");
    lock.unlock();
    assertFalse(redis.exists(name));
  }

  @Test
  void eachHoldHasItsOwnLeaseAlthoughTheLockObjectIsShared() throws Exception {
    lock.withLease(Duration.ofSeconds(60)).lock();
    AsyncCall<Void> next =
        AsyncCall.run(
            () -> {
              lock.withLease(Duration.ofSeconds(20)).lock();
              assertTtl(10_000, 20_000);
              lock.unlock();
            });
    next.awaitQueued();
    assertTtl(40_000, 60_000);
    lock.unlock();
    next.get();
    lock.lock();
    assertTtl(1, LEASE.toMillis());
    holdsFor(LONGER, "and this one is renewed", lock::isHeldByCurrentThread);
    lock.unlock();
  }

  @Test
  void waitsAndLeasesAreInTheUnitsOfTheCall() throws Exception {
    redis.holdAsStranger(name, 60_000);
    assertWaits(300, TimeUnit.MILLISECONDS);
    assertWaits(1, TimeUnit.SECONDS);
    assertWaits(200_000, TimeUnit.MICROSECONDS);
    redis.delete(name);

    assertTrue(lock.tryLock(Duration.ofSeconds(1), Duration.ofSeconds(30)));
    assertTtl(20_000, 30_000);
    lock.unlock();
  }

  private void assertWaits(long wait, TimeUnit unit) throws Exception {
    long expected = unit.toMillis(wait);
    long millis =
        LateAnswer.repeat(
            Duration.ofMillis(expected),
            () -> Elapsed.millisOf(() -> assertFalse(lock.tryLock(wait, unit))));
    assertTrue(
        millis >= expected && millis < expected + 2_700,
        () -> wait + " " + unit + " took " + millis + " ms");
  }

  @Test
  void retriesDoNotMultiplyTheLease() throws Exception {
    // Longer than the thread that renews is late on a busy machine: it must not shorten our hold.
    redis.holdAsStranger(name, 2_000);
    AsyncCall<Void> renewing = redis.renewAsStranger(name, 2_000, Duration.ofSeconds(5));

    assertTrue(lock.tryLock(Duration.ofSeconds(20), Duration.ofSeconds(30)));

    renewing.get();
    assertTtl(20_000, 30_000);
    assertEquals(1, lock.holdCount());
    lock.unlock();
  }
}
