package io.mortise.it.waiting;

import static io.mortise.it.support.Elapsed.millisOf;
import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.freshName;
import static io.mortise.it.support.SharedRedis.warm;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Pitfalls 2 and 3: who waits is woken by the release, whatever happens to the message. The lock is
 * held for a minute each time; only a wake-up can be faster.
 */
@Timeout(60)
@Tag("redis-version")
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class WakeUpTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final long PROMPT_MILLIS = 4_000;
  private static final long TTL_MILLIS = 60_000;
  private static final Duration HOUR = Duration.ofHours(1);

  private final String name = freshName();
  private FaultProxy proxy;
  private LockClient client;
  private RedisLock lock;

  @BeforeEach
  void open() {
    proxy = FaultProxy.to(redis.server());
    use(LockOptions.builder());
  }

  private void use(LockOptions.Builder options) {
    if (client != null) {
      client.close();
    }
    client = LockClient.create(proxy.uri(), options.build());
    lock = new RedisLock(client, name);
    warm(client);
  }

  @AfterEach
  void close() {
    client.close();
    proxy.close();
  }

  private AsyncCall<Boolean> waiter() {
    return AsyncCall.start(
        () -> {
          lock.lock();
          lock.unlock();
          return true;
        });
  }

  private AsyncCall<Boolean> subscribedWaiter() {
    AsyncCall<Boolean> waiter = waiter();
    until("it is subscribed", () -> redis.subscribers(name) == 1);
    return waiter.awaitParked();
  }

  private void releasesPromptly(AsyncCall<Boolean> waiter) throws Exception {
    redis.releaseAsStranger(name);
    assertPrompt(waiter::get);
  }

  private static void assertPrompt(Callable<Boolean> call) throws Exception {
    long took = millisOf(call);
    assertTrue(took < PROMPT_MILLIS, () -> "it took " + took + " ms");
  }

  @Test
  void theReleaseWakesTheWaiterWithinMilliseconds() throws Exception {
    List<Long> times = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      redis.holdAsStranger(name, TTL_MILLIS);
      AsyncCall<Boolean> waiter = waiter();
      until("it is subscribed", () -> redis.subscribers(name) == 1);
      waiter.awaitParked();
      times.add(
          millisOf(
              () -> {
                redis.releaseAsStranger(name);
                return waiter.get();
              }));
    }
    long median = times.stream().sorted().skip(10).findFirst().orElseThrow();
    assertTrue(median < 100, () -> "ms from release to the end of the next cycle: " + times);
  }

  @Test
  void aMessageBetweenTheAttemptAndTheParkingIsNotLost() throws Exception {
    use(LockOptions.builder().commandTimeout(Duration.ofSeconds(10)));
    redis.holdAsStranger(name, TTL_MILLIS);
    releasesPromptly(subscribedWaiter());
    for (int round = 0; round < 40; round++) {
      redis.holdAsStranger(name, TTL_MILLIS);
      // The refusal and the message stand before the client together, in either order.
      proxy.delay(Direction.TO_CLIENT, HOUR);
      redis.server().resetStats();
      AsyncCall<Boolean> waiter = waiter();
      until("the attempt was refused", () -> redis.calls("evalsha") == 1);
      redis.releaseAsStranger(name);
      proxy.restore();
      assertPrompt(waiter::get);
    }
  }

  @Test
  void aReleaseBeforeTheSubscriptionStandsIsNotMissed() throws Exception {
    redis.holdAsStranger(name, TTL_MILLIS);
    proxy.holdNewConnections();
    AsyncCall<Boolean> waiter = waiter().awaitParked();
    redis.releaseAsStranger(name);
    proxy.restore();

    assertPrompt(waiter::get);
  }

  @Test
  void aSubscriptionThatIsKilledIsMadeAnewAndWakes() throws Exception {
    redis.holdAsStranger(name, TTL_MILLIS);
    AsyncCall<Boolean> waiter = subscribedWaiter();
    for (int i = 0; i < 3; i++) {
      redis.server().command("CLIENT", "KILL", "TYPE", "pubsub");
      until("it is subscribed again", () -> redis.subscribers(name) == 1);
    }
    releasesPromptly(waiter);
  }

  @Test
  void aReleaseWhileTheSubscriptionIsBrokenIsNotMissed() throws Exception {
    redis.holdAsStranger(name, TTL_MILLIS);
    AsyncCall<Boolean> waiter = subscribedWaiter();
    proxy.holdNewConnections();
    redis.server().command("CLIENT", "KILL", "TYPE", "pubsub");
    releasesPromptly(waiter);
  }

  @Test
  void aLockIsObtainedByPollingWhenSubscribingIsNotPossible() throws Exception {
    redis.holdAsStranger(name, TTL_MILLIS);
    proxy.holdNewConnections();
    AsyncCall<Boolean> waiter = waiter().awaitParked();
    holdsFor(Duration.ofMillis(500), "it waits", () -> !waiter.isDone());
    assertEquals(0, redis.subscribers(name));

    releasesPromptly(waiter);
  }

  @Test
  void aUserWithoutTheRightToSubscribeObtainsTheLockByPolling() throws Exception {
    redis
        .server()
        .command("ACL", "SETUSER", "deaf", "on", ">pw", "~*", "&*", "+@all", "-subscribe");
    client.close();
    client = LockClient.create("redis://deaf:pw@127.0.0.1:" + redis.server().port());
    lock = new RedisLock(client, name);
    redis.holdAsStranger(name, TTL_MILLIS);
    AsyncCall<Boolean> waiter = waiter().awaitParked();
    holdsFor(Duration.ofMillis(500), "it waits", () -> !waiter.isDone());

    releasesPromptly(waiter);
  }

  @Test
  void twoClientsHandALockOverAThousandTimesWithoutWaitingForATtl() throws Exception {
    try (LockClient other = redis.client()) {
      RedisLock lockOfOther = new RedisLock(other, name);
      Callable<Boolean> mine = () -> cycle(lock);
      Callable<Boolean> others = () -> cycle(lockOfOther);
      long took =
          millisOf(
              () -> {
                AsyncCall<Boolean> one = AsyncCall.start(mine);
                AsyncCall<Boolean> two = AsyncCall.start(others);
                return one.get() && two.get();
              });
      assertTrue(took < 15_000, () -> "it took " + took + " ms; one missed wake-up costs 30 s");
    }
  }

  private static boolean cycle(RedisLock lock) {
    for (int i = 0; i < 500; i++) {
      lock.lock();
      lock.unlock();
    }
    return true;
  }
}
