package io.mortise.it.waiting;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Counts, on the server, the commands of each step: none is sent that is not needed. */
@Timeout(60)
class CommandCountTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension
  final LockFixture tested = LockFixture.direct(redis, LockOptions.builder()).warm();

  private final String name = tested.name();
  private final RedisLock lock = tested.lock();

  @BeforeEach
  void resetStats() {
    redis.resetStats();
  }

  @Test
  void lockAndUnlockOfAFreeLockAreTwoEvalshaAndNothingElse() {
    for (int i = 0; i < 50; i++) {
      lock.lock();
      lock.unlock();
    }
    assertEquals(Map.of("evalsha", 100L), redis.sent());
  }

  @Test
  void theOtherMethodsCostNoMore() throws Exception {
    assertTrue(lock.tryLock());
    lock.unlock();
    assertTrue(lock.tryLock(Duration.ofSeconds(5)));
    lock.unlock();
    lock.withLease(Duration.ofSeconds(5)).lock();
    lock.unlock();
    lock.acquire(Duration.ofSeconds(5)).orElseThrow().close();
    lock.acquireAsync(Duration.ofSeconds(5)).toCompletableFuture().join().orElseThrow().close();
    assertEquals(Map.of("evalsha", 10L), redis.sent());
  }

  @Test
  void reentryAndQueriesOfOnesOwnHoldSendNothing() throws Exception {
    lock.lock();
    redis.resetStats();
    for (int i = 0; i < 100; i++) {
      lock.lock();
      assertTrue(lock.tryLock());
      assertTrue(lock.tryLock(Duration.ofSeconds(1)));
      assertEquals(4, lock.holdCount());
      assertTrue(lock.isHeldByCurrentThread());
      assertTrue(lock.lease().fencingToken() > 0);
      lock.unlock();
      lock.unlock();
      lock.unlock();
    }
    assertEquals(Map.of(), redis.sent());
    lock.unlock();
  }

  @Test
  void aReentryWithALeaseSendsACommandIfTheHoldIsNotCertainToLastThatLong() {
    lock.lock();
    redis.resetStats();
    lock.withLease(Duration.ofSeconds(10)).lock();
    assertEquals(Map.of(), redis.sent());

    lock.withLease(LockOptions.defaults().lease()).lock(); // it is renewed, and less is left

    assertFalse(redis.sent().isEmpty());
    lock.unlock();
    lock.unlock();
    lock.unlock();
  }

  @Test
  void aWaiterSendsNothingUntilItIsWoken() throws Exception {
    RedisLock lock = tested.use(LockOptions.builder().tuning(t -> t.maxHandOffs(0)));
    assertEquals(20, scriptsOfTenWaiters(lock), "two for each");
  }

  @Test
  void aHoldThatIsHandedOffIsAcquiredAndReleasedOnce() throws Exception {
    RedisLock lock =
        tested.use(LockOptions.builder().tuning(t -> t.maxHandOffTime(Duration.ofMinutes(1))));
    assertEquals(2, scriptsOfTenWaiters(lock), "two for all");
  }

  /** A wait that ends by itself: the message of a release might wake the first of the waiters. */
  private boolean polls(RedisLock lock) throws Exception {
    redis.resetStats();
    assertFalse(LateAnswer.tryLock(lock, Duration.ofMillis(300)));
    return redis.calls("evalsha") > 2; // it asks at its beginning and at its end
  }

  /** Returns how many scripts ten waiting threads send from the release of a stranger on. */
  private long scriptsOfTenWaiters(RedisLock lock) throws Exception {
    redis.holdAsStranger(name, 60_000);
    until("a wait does not poll, because its channel lingers, confirmed", () -> !polls(lock));
    redis.resetStats();
    List<AsyncCall<Void>> waiters = Stream.generate(() -> AsyncCall.cycle(lock)).limit(10).toList();
    redis.awaitSubscriber(name);
    for (AsyncCall<Void> waiter : waiters) {
      until("it waits", () -> waiter.thread().getState() != Thread.State.RUNNABLE);
    }
    until("the first attempt is made", () -> redis.calls("evalsha") >= 1);
    assertEquals(1, redis.calls("evalsha"), "only the first in the queue asks");
    redis.resetStats();

    holdsFor(Duration.ofSeconds(1), "nothing is sent", () -> redis.calls("evalsha") == 0);

    redis.resetStats();
    redis.releaseAsStranger(name);
    AsyncCall.join(waiters);
    assertEquals(0, redis.calls("subscribe"), "the channel lingers for the next waiter");
    return redis.calls("evalsha");
  }

  @Test
  void theHoldOfADeadHolderIsFollowedAtItsTtlWithoutPolling() throws Exception {
    redis.holdAsStranger(name, 1_000);

    assertTrue(lock.tryLock(Duration.ofSeconds(20)));

    assertTrue(redis.calls("evalsha") <= 4, () -> redis.calls("evalsha") + " attempts");
    lock.unlock();
  }

  @Test
  void aHoldWithoutATtlIsNotPolled() throws Exception {
    // Its channel lingers, confirmed: a waiter polls until a subscription is confirmed.
    redis.holdAsStranger(name, 60_000);
    tested.assertReleaseWakes(tested.subscribedWaiter());
    redis.holdAsStranger(name);
    Duration wait = Duration.ofSeconds(1);

    boolean acquired =
        LateAnswer.repeat(
            wait,
            () -> {
              redis.resetStats();
              return lock.tryLock(wait);
            });

    assertFalse(acquired);

    assertTrue(redis.calls("evalsha") <= 3, () -> redis.calls("evalsha") + " attempts");
    redis.delete(name);
  }

  @Test
  void aHoldWithoutATtlIsFollowedAtItsRelease() throws Exception {
    redis.holdAsStranger(name);
    AsyncCall<Boolean> waiter = AsyncCall.start(() -> lock.tryLock(Duration.ofSeconds(20)));
    redis.awaitSubscriber(name);

    redis.releaseAsStranger(name);

    assertTrue(waiter.get());
    redis.delete(name);
  }

  @Test
  void aShortTtlThatIsAlwaysRenewedCostsOneAttemptPerTtl() throws Exception {
    Duration wait = Duration.ofMillis(6_500);
    List<AsyncCall<Void>> renewings = new ArrayList<>();
    long attempts =
        LateAnswer.repeat(
            wait,
            () -> {
              renewings.add(holdRenewed(3_000, Duration.ofSeconds(7)));
              redis.resetStats();
              assertFalse(lock.tryLock(wait));
              return redis.calls("evalsha");
            });

    assertTrue(attempts <= 7, () -> attempts + " attempts");
    for (AsyncCall<Void> renewing : renewings) {
      renewing.get();
    }
    redis.delete(name);
  }

  private AsyncCall<Void> holdRenewed(long ttlMillis, Duration time) {
    redis.holdAsStranger(name, ttlMillis);
    return redis.renewAsStranger(name, ttlMillis, time);
  }

  @Test
  void tryLockOnALockThatThisClientHoldsSendsNothing() throws Exception {
    lock.lock();
    redis.resetStats();

    assertFalse(AsyncCall.start(() -> lock.tryLock()).get());

    assertEquals(Map.of(), redis.sent());
    lock.unlock();
  }
}
