package io.mortise.it.waiting;

import static io.mortise.it.support.Elapsed.millisOf;
import static io.mortise.it.support.Elapsed.runningMillisOf;
import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A waiter is woken by the release, whatever happens to the message. The lock is held for a minute
 * each time; only a wake-up can be faster.
 */
@Timeout(60)
@Tag("redis-version")
class WakeUpTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final long TTL_MILLIS = 60_000;
  private static final Duration HOUR = Duration.ofHours(1);

  @RegisterExtension
  final LockFixture tested = LockFixture.proxied(redis, LockOptions.builder()).warm();

  private final String name = tested.name();
  private final FaultProxy proxy = tested.proxy();
  private final RedisLock lock = tested.lock();

  @Test
  void theReleaseWakesTheWaiterWithinMilliseconds() throws Exception {
    List<Long> times = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      redis.holdAsStranger(name, TTL_MILLIS);
      AsyncCall<Void> waiter = tested.subscribedWaiter();
      times.add(
          runningMillisOf(
              () -> {
                redis.releaseAsStranger(name);
                waiter.get();
              }));
    }
    long median = times.stream().sorted().skip(10).findFirst().orElseThrow();
    assertTrue(median < 100, () -> "ms from release to the end of the next cycle: " + times);
  }

  @Test
  void aMessageBetweenTheAttemptAndTheParkingIsNotLost() throws Exception {
    RedisLock lock = tested.use(LockOptions.builder().commandTimeout(Duration.ofSeconds(10)));
    redis.holdAsStranger(name, TTL_MILLIS);
    tested.assertReleaseWakes(tested.subscribedWaiter());
    for (int round = 0; round < 40; round++) {
      redis.holdAsStranger(name, TTL_MILLIS);
      // The refusal and the message reach the client together, in either order.
      proxy.delay(Direction.TO_CLIENT, HOUR);
      redis.resetStats();
      AsyncCall<Void> waiter = AsyncCall.cycle(lock);
      until("the attempt was refused", () -> redis.calls("evalsha") == 1);
      redis.releaseAsStranger(name);
      proxy.restore();
      LockFixture.assertPrompt(waiter);
    }
  }

  @Test
  void aReleaseBeforeTheSubscriptionIsConfirmedIsNotMissed() throws Exception {
    redis.holdAsStranger(name, TTL_MILLIS);
    proxy.holdNewConnections();
    AsyncCall<Void> waiter = AsyncCall.cycle(lock).awaitParked();
    redis.releaseAsStranger(name);
    proxy.restore();

    LockFixture.assertPrompt(waiter);
  }

  @Test
  void aKilledSubscriptionIsReplacedAndWakes() throws Exception {
    redis.holdAsStranger(name, TTL_MILLIS);
    AsyncCall<Void> waiter = tested.subscribedWaiter();
    for (int i = 0; i < 3; i++) {
      redis.command("CLIENT", "KILL", "TYPE", "pubsub");
      redis.awaitSubscriber(name);
    }
    tested.assertReleaseWakes(waiter);
  }

  @Test
  void aReleaseWhileTheSubscriptionIsBrokenIsNotMissed() throws Exception {
    redis.holdAsStranger(name, TTL_MILLIS);
    AsyncCall<Void> waiter = tested.subscribedWaiter();
    proxy.holdNewConnections();
    redis.command("CLIENT", "KILL", "TYPE", "pubsub");
    tested.assertReleaseWakes(waiter);
  }

  @Test
  void aLockIsObtainedByPollingWhenSubscribingIsNotPossible() throws Exception {
    redis.holdAsStranger(name, TTL_MILLIS);
    proxy.holdNewConnections();
    AsyncCall<Void> waiter = AsyncCall.cycle(lock).awaitParked();
    holdsFor(Duration.ofMillis(500), "it waits", () -> !waiter.isDone());
    assertEquals(0, redis.subscribers(name));

    tested.assertReleaseWakes(waiter);
  }

  @Test
  void aUserWithoutTheRightToSubscribeObtainsTheLockByPolling() throws Exception {
    redis.command("ACL", "SETUSER", "polling", "on", ">pw", "~*", "&*", "+@all", "-subscribe");
    redis.holdAsStranger(name, TTL_MILLIS);
    try (LockClient polling =
        LockClient.create("redis://polling:pw@127.0.0.1:" + redis.server().port())) {
      AsyncCall<Void> waiter = AsyncCall.cycle(new RedisLock(polling, name)).awaitParked();
      holdsFor(Duration.ofMillis(500), "it waits", () -> !waiter.isDone());

      tested.assertReleaseWakes(waiter);
    }
  }

  @Test
  void twoClientsLockInTurnAThousandTimesWithoutWaitingForATtl() throws Exception {
    RedisLock lockOfOther = tested.lockOfOther();
    long took =
        millisOf(
            () ->
                AsyncCall.join(
                    List.of(
                        AsyncCall.run(() -> cycles(lock)),
                        AsyncCall.run(() -> cycles(lockOfOther)))));
    assertTrue(took < 15_000, () -> "it took " + took + " ms; one missed wake-up costs 30 s");
  }

  private static void cycles(RedisLock lock) {
    for (int i = 0; i < 500; i++) {
      lock.lock();
      lock.unlock();
    }
  }
}
