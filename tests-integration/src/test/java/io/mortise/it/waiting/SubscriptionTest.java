package io.mortise.it.waiting;

import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Wake-ups arrive on their own connection, which is tested by heartbeats, and exists only while a
 * thread waits. The lock is held for a minute each time; only a wake-up can be faster.
 */
@Timeout(60)
@Tag("redis-version")
class SubscriptionTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final long TTL_MILLIS = 60_000;

  /** The messages for nobody that cost as much as to subscribe again. */
  private static final int UNHEARD = 8;

  @RegisterExtension
  final LockFixture tested = LockFixture.proxied(redis, LockOptions.builder()).warm();

  private final String name = tested.name();
  private final String anotherName = Names.fresh();
  private final FaultProxy proxy = tested.proxy();

  @Test
  void aHalfOpenSubscriptionIsNoticedAndReplaced() throws Exception {
    tested.use(LockOptions.builder().lease(Duration.ofMillis(1_500)));
    redis.holdAsStranger(name, TTL_MILLIS);
    AsyncCall<Void> waiter = tested.subscribedWaiter();
    proxy.loseNextReply(LossStyle.SILENT, FaultProxy.containing("SUBSCRIBE")); // a heartbeat
    until("nothing arrives any more", () -> proxy.repliesLost() == 1);

    tested.assertReleaseWakes(waiter);
  }

  @Test
  void aWaiterPollsUntilItsSubscriptionIsConfirmedAndTheNextOneSubscribesAgain() throws Exception {
    RedisLock lock = tested.use(LockOptions.builder().lease(Duration.ofMillis(1_500)));
    redis.holdAsStranger(name, TTL_MILLIS);
    proxy.loseNextReply(LossStyle.SILENT, FaultProxy.containing("SUBSCRIBE"));
    AsyncCall<Void> waiter = AsyncCall.cycle(lock);
    until("the confirmation is lost", () -> proxy.repliesLost() == 1);

    tested.assertReleaseWakes(waiter);

    redis.holdAsStranger(name, TTL_MILLIS);
    long before = proxy.connectionsAccepted();
    AsyncCall<Void> next = AsyncCall.cycle(lock);
    until("there is a new connection", () -> proxy.connectionsAccepted() > before);
    until("it is subscribed", () -> redis.subscribers(name) >= 1);
    tested.assertReleaseWakes(next);
  }

  @Test
  void aHealthySubscriptionSurvivesItsHeartbeats() throws Exception {
    tested.use(LockOptions.builder().lease(Duration.ofMillis(600)));
    redis.holdAsStranger(name, TTL_MILLIS);
    AsyncCall<Void> waiter = tested.subscribedWaiter();
    String clients = redis.subscribedConnections();
    redis.resetStats();

    until("there were some heartbeats", () -> redis.calls("subscribe") >= 4);

    assertEquals(clients, redis.subscribedConnections());
    tested.assertReleaseWakes(waiter);
  }

  @Test
  void theSubscriptionTakesNoConnectionFromTheCommands() throws Exception {
    tested.use(LockOptions.builder().tuning(t -> t.maxConnections(1)));
    redis.holdAsStranger(name, TTL_MILLIS);
    AsyncCall<Void> waiter = tested.subscribedWaiter();

    SharedRedis.warm(tested.client());

    tested.assertReleaseWakes(waiter);
  }

  @Test
  void aChannelLingersForTheNextWaiter() throws Exception {
    redis.resetStats();
    for (int i = 0; i < 5; i++) {
      redis.holdAsStranger(name, TTL_MILLIS);
      tested.assertReleaseWakes(tested.subscribedWaiter());
    }
    assertEquals(1, redis.calls("subscribe"));
    assertEquals(0, redis.calls("unsubscribe"));
  }

  @Test
  void unusedChannelsAreUnsubscribedAndTheOthersStay() throws Exception {
    tested.use(LockOptions.builder().tuning(t -> t.subscriptionLinger(Duration.ofMillis(50))));
    redis.holdAsStranger(name, TTL_MILLIS);
    AsyncCall<Void> waiter = tested.subscribedWaiter();
    String clients = redis.subscribedConnections();
    for (int i = 0; i < 3; i++) {
      RedisLock other = new RedisLock(tested.client(), Names.fresh());
      redis.holdAsStranger(other.name(), TTL_MILLIS);
      AsyncCall<Boolean> otherWaiter = AsyncCall.start(() -> other.tryLock(Duration.ofSeconds(30)));
      redis.awaitSubscriber(other.name());
      redis.releaseAsStranger(other.name());
      assertTrue(otherWaiter.get());
      until("the channel is unsubscribed", () -> redis.subscribers(other.name()) == 0);
    }
    assertEquals(clients, redis.subscribedConnections(), "all on one connection");

    tested.assertReleaseWakes(waiter);
  }

  @Test
  void theNextWaiterSubscribesAgainAfterTheLastChannelWasUnsubscribed() throws Exception {
    tested.use(LockOptions.builder().tuning(t -> t.subscriptionLinger(Duration.ZERO)));
    for (int i = 0; i < 3; i++) {
      redis.holdAsStranger(name, TTL_MILLIS);
      tested.assertReleaseWakes(tested.subscribedWaiter());
      ClientResources.awaitNone(tested.client());
      until("the connection is closed", () -> redis.subscribedConnections().isEmpty());
    }
  }

  @Test
  void aChannelThatBringsMessagesForNobodyIsUnsubscribedBeforeItsTime() throws Exception {
    tested.use(LockOptions.builder().tuning(t -> t.subscriptionLinger(Duration.ofMinutes(5))));
    AsyncCall<Void> other = waiterForAnother();
    wakeOneWaiter();

    publish(UNHEARD - 2); // the release of the waiter itself was one
    assertStaysSubscribed();
    publish(1);

    until("the channel is unsubscribed", () -> redis.subscribers(name) == 0);
    wakeOneWaiter(); // it subscribes again
    redis.releaseAsStranger(anotherName);
    LockFixture.assertPrompt(other);
  }

  @Test
  void messagesForWaitersUnsubscribeNothing() throws Exception {
    AsyncCall<Void> other = waiterForAnother();
    wakeOneWaiter();
    redis.holdAsStranger(name, TTL_MILLIS);
    AsyncCall<Void> waiter = tested.subscribedWaiter();

    publish(2 * UNHEARD);

    assertStaysSubscribed();
    tested.assertReleaseWakes(waiter);
    redis.releaseAsStranger(anotherName);
    LockFixture.assertPrompt(other);
  }

  @Test
  void theLastChannelStaysWhateverItBrings() throws Exception {
    wakeOneWaiter();
    String clients = redis.subscribedConnections();

    publish(3 * UNHEARD);

    assertStaysSubscribed();
    assertEquals(clients, redis.subscribedConnections());
  }

  private AsyncCall<Void> waiterForAnother() {
    redis.holdAsStranger(anotherName, TTL_MILLIS);
    AsyncCall<Void> waiter = AsyncCall.cycle(new RedisLock(tested.client(), anotherName));
    redis.awaitSubscriber(anotherName);
    return waiter.awaitParked();
  }

  private void wakeOneWaiter() throws Exception {
    redis.holdAsStranger(name, TTL_MILLIS);
    tested.assertReleaseWakes(tested.subscribedWaiter());
  }

  private void publish(int messages) {
    for (int i = 0; i < messages; i++) {
      assertEquals(1L, redis.command("PUBLISH", SharedRedis.channel(name), "0"));
    }
  }

  private void assertStaysSubscribed() {
    Eventually.holdsFor(
        Duration.ofMillis(200), "it is subscribed", () -> redis.subscribers(name) == 1);
  }
}
