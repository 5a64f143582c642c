package io.mortise.it.leases;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.freshName;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Elapsed;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pitfalls 6, 7 and 8: whose lease counts, and in which unit. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class NestedLeaseTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration LEASE = Duration.ofMillis(1500);

  private final String name = freshName();
  private LockClient client;
  private RedisLock lock;

  @BeforeEach
  void open() {
    client = LockClient.create(redis.uri(), LockOptions.builder().lease(LEASE).build());
    lock = new RedisLock(client, name);
  }

  @AfterEach
  void close() {
    client.close();
  }

  private void assertTtl(long atLeast, long atMost) {
    long ttl = redis.ttlMillis(name);
    assertTrue(ttl >= atLeast && ttl <= atMost, () -> "the TTL is " + ttl + " ms");
  }

  @Test // pitfall 8
  void aShorterLeaseInsideChangesNothing() {
    lock.lock(Duration.ofSeconds(60));
    lock.lock(Duration.ofMillis(50));
    assertTtl(40_000, 60_000);
    lock.unlock();
    assertTtl(40_000, 60_000);
    assertTrue(lock.lease().remaining().toMillis() > 40_000);
    lock.unlock();
    assertFalse(redis.exists(name));
  }

  @Test // pitfall 8
  void aLongerLeaseInsideLengthensAndDoesNotAddUp() {
    lock.lock(Duration.ofSeconds(20));
    lock.lock(Duration.ofSeconds(60));
    assertTtl(45_000, 60_000);
    assertTrue(lock.lease().remaining().toMillis() > 40_000);
    lock.lock(Duration.ofSeconds(60));
    assertTtl(45_000, 60_000);
    lock.unlock();
    lock.unlock();
    lock.unlock();
    assertFalse(redis.exists(name));
  }

  @Test // pitfall 8
  void aShortLeaseInsideARenewedHoldDoesNotEndItsRenewal() {
    lock.lock();
    lock.lock(Duration.ofMillis(50));
    lock.unlock();
    holdsFor(LEASE.multipliedBy(2), "renewed", lock::isHeldByCurrentThread);
    lock.unlock();
  }

  @Test // pitfall 8
  void aLongLeaseInsideARenewedHoldIsKept() {
    lock.lock();
    lock.lock(Duration.ofSeconds(60));
    holdsFor(LEASE, "the TTL stays", () -> redis.ttlMillis(name) > 40_000);
    lock.unlock();
    lock.unlock();
    assertFalse(redis.exists(name));
  }

  @Test // pitfall 8
  void aRenewedHoldInsideAFixedOneIsRenewedUntilItsUnlock() {
    lock.lock(Duration.ofMillis(500));
    lock.lock();
    holdsFor(LEASE.multipliedBy(2), "renewed", lock::isHeldByCurrentThread);
    lock.unlock();
    until("then nobody renews it", () -> !lock.isHeldByCurrentThread());
    assertThrows(LeaseLostException.class, lock::unlock);
  }

  @Test
  void aServerThatRefusesToLengthenAHoldDoesNotEndIt() {
    lock.lock();
    redis.server().command("REPLICAOF", "127.0.0.1", "1");
    try {
      assertThrows(LockException.class, () -> lock.lock(Duration.ofHours(1)));
    } finally {
      redis.server().command("REPLICAOF", "NO", "ONE");
    }
    assertEquals(1, lock.holdCount(), "as before");
    lock.unlock();
    assertFalse(redis.exists(name));
  }

  @Test // pitfall 7
  void eachHoldHasItsOwnLeaseAlthoughTheLockObjectIsShared() throws Exception {
    lock.lock(Duration.ofSeconds(60));
    AsyncCall<Boolean> next =
        AsyncCall.start(
            () -> {
              lock.lock(Duration.ofSeconds(20));
              assertTtl(10_000, 20_000);
              lock.unlock();
              return true;
            });
    next.awaitQueued();
    assertTtl(40_000, 60_000);
    lock.unlock();
    assertTrue(next.get());
    lock.lock();
    assertTtl(1, LEASE.toMillis());
    holdsFor(LEASE.multipliedBy(2), "and this one is renewed", lock::isHeldByCurrentThread);
    lock.unlock();
  }

  @Test // pitfall 6
  void waitsAndLeasesAreInTheUnitsThatTheCallerNamed() throws Exception {
    redis.holdAsStranger(name, 60_000);
    long millis = Elapsed.millisOf(() -> lock.tryLock(300, TimeUnit.MILLISECONDS));
    assertTrue(millis >= 300 && millis < 3_000, () -> "300 ms took " + millis);
    long second = Elapsed.millisOf(() -> lock.tryLock(1, TimeUnit.SECONDS));
    assertTrue(second >= 1_000 && second < 4_000, () -> "1 s took " + second + " ms");
    long micros = Elapsed.millisOf(() -> lock.tryLock(200_000, TimeUnit.MICROSECONDS));
    assertTrue(micros >= 200 && micros < 3_000, () -> "200,000 us took " + micros + " ms");
    redis.server().command("DEL", name);

    assertTrue(lock.tryLock(Duration.ofSeconds(1), Duration.ofSeconds(30)));
    assertTtl(20_000, 30_000);
    lock.unlock();
  }

  @Test // pitfall 6
  void retriesDoNotMultiplyTheLease() throws Exception {
    redis.holdAsStranger(name, 100);
    AsyncCall<Boolean> renewing =
        AsyncCall.start(
            () -> {
              holdsFor(
                  Duration.ofMillis(600),
                  "renewed",
                  () -> Long.valueOf(1).equals(redis.server().command("PEXPIRE", name, "100")));
              return true;
            });

    assertTrue(lock.tryLock(Duration.ofSeconds(20), Duration.ofSeconds(30)));

    assertTrue(renewing.get());
    assertTtl(20_000, 30_000);
    assertEquals(1, lock.holdCount());
    lock.unlock();
  }
}
