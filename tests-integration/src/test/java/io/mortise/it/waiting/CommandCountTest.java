package io.mortise.it.waiting;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.freshName;
import static io.mortise.it.support.SharedRedis.warm;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pitfall 4: nothing is sent that is not needed, counted by the server. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class CommandCountTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private final String name = freshName();
  private LockClient client;
  private RedisLock lock;

  @BeforeEach
  void open() {
    client = redis.client();
    lock = new RedisLock(client, name);
    warm(client);
    redis.server().resetStats();
  }

  @AfterEach
  void close() {
    client.close();
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
  void theOtherFormsCostNoMore() throws Exception {
    assertTrue(lock.tryLock());
    lock.unlock();
    assertTrue(lock.tryLock(Duration.ofSeconds(5)));
    lock.unlock();
    lock.lock(Duration.ofSeconds(5));
    lock.unlock();
    lock.acquire(Duration.ofSeconds(5)).orElseThrow().close();
    lock.acquireAsync(Duration.ofSeconds(5)).toCompletableFuture().join().orElseThrow().close();
    assertEquals(Map.of("evalsha", 10L), redis.sent());
  }

  @Test
  void reentryAndItsQuestionsSendNothing() throws Exception {
    lock.lock();
    redis.server().resetStats();
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
  void aThreadThatWaitsSendsNothingUntilItIsWoken() throws Exception {
    try (LockClient through =
        LockClient.create(redis.uri(), LockOptions.builder().maxHandOffs(0).build())) {
      warm(through);
      assertEquals(20, sentByTenWaiters(new RedisLock(through, name)), "two for each");
    }
  }

  @Test
  void aHoldThatPassesFromThreadToThreadIsTakenAndReleasedOnce() throws Exception {
    LockOptions options = LockOptions.builder().maxHandOffTime(Duration.ofMinutes(1)).build();
    try (LockClient through = LockClient.create(redis.uri(), options)) {
      warm(through);
      assertEquals(2, sentByTenWaiters(new RedisLock(through, name)), "two for all");
    }
  }

  /** How many scripts ten threads send that wait, from the release of a stranger on. */
  private long sentByTenWaiters(RedisLock lock) throws Exception {
    redis.server().resetStats();
    redis.holdAsStranger(name, 60_000);
    List<AsyncCall<Boolean>> waiters = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      waiters.add(
          AsyncCall.start(
              () -> {
                lock.lock();
                lock.unlock();
                return true;
              }));
    }
    until("one is subscribed", () -> redis.subscribers(name) == 1);
    for (AsyncCall<Boolean> waiter : waiters) {
      until("it waits", () -> waiter.thread().getState() != Thread.State.RUNNABLE);
    }
    until("the attempt after the subscription is made", () -> redis.calls("evalsha") >= 2);
    assertEquals(2, redis.calls("evalsha"), "only the first in line asks, before and after");
    redis.server().resetStats();

    holdsFor(Duration.ofSeconds(1), "nothing is sent", () -> redis.calls("evalsha") == 0);

    redis.server().resetStats();
    redis.releaseAsStranger(name);
    for (AsyncCall<Boolean> waiter : waiters) {
      assertTrue(waiter.get());
    }
    assertEquals(0, redis.calls("subscribe"), "the channel lingers for the next in line");
    return redis.calls("evalsha");
  }

  @Test
  void aHoldWhoseHolderDiedIsTakenAtItsTtlWithoutPolling() throws Exception {
    redis.holdAsStranger(name, 1_000);

    assertTrue(lock.tryLock(Duration.ofSeconds(20)));

    assertTrue(redis.calls("evalsha") <= 4, () -> redis.calls("evalsha") + " attempts");
    lock.unlock();
  }

  @Test
  void aHolderWithoutATtlIsNotAskedForAgainAndAgain() throws Exception {
    redis.holdAsStranger(name);

    assertFalse(lock.tryLock(Duration.ofSeconds(1)));

    assertTrue(redis.calls("evalsha") <= 3, () -> redis.calls("evalsha") + " attempts");
    redis.server().command("DEL", name);
  }

  @Test
  void aHolderWithoutATtlIsFollowedAtItsRelease() throws Exception {
    redis.holdAsStranger(name);
    AsyncCall<Boolean> waiter = AsyncCall.start(() -> lock.tryLock(Duration.ofSeconds(20)));
    until("it is subscribed", () -> redis.subscribers(name) == 1);

    redis.releaseAsStranger(name);

    assertTrue(waiter.get());
    redis.server().command("DEL", name);
  }

  @Test
  void aShortTtlThatIsAlwaysRenewedCostsOneAttemptATtl() throws Exception {
    redis.holdAsStranger(name, 300);
    AsyncCall<Boolean> renewing =
        AsyncCall.start(
            () -> {
              holdsFor(
                  Duration.ofMillis(1_500),
                  "renewed",
                  () -> Long.valueOf(1).equals(redis.server().command("PEXPIRE", name, "300")));
              return true;
            });

    assertFalse(lock.tryLock(Duration.ofMillis(1_200)));

    assertTrue(redis.calls("evalsha") <= 7, () -> redis.calls("evalsha") + " attempts");
    assertTrue(renewing.get());
    redis.server().command("DEL", name);
  }

  @Test
  void tryLockOnALockThatThisClientHoldsSendsNothing() throws Exception {
    lock.lock();
    redis.server().resetStats();

    assertFalse(AsyncCall.start(() -> lock.tryLock()).get());

    assertEquals(Map.of(), redis.sent());
    lock.unlock();
  }
}
