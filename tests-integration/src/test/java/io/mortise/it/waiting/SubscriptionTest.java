package io.mortise.it.waiting;

import static io.mortise.it.support.Elapsed.millisOf;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.assertIdle;
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
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Pitfalls 3, 34, 36 and 37: the connection on which wake-ups arrive is one of its own, is looked
 * after, and is there only while somebody waits. The lock is held for a minute each time; only a
 * wake-up can be faster.
 */
@Timeout(60)
@Tag("redis-version")
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class SubscriptionTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final long PROMPT_MILLIS = 4_000;
  private static final long TTL_MILLIS = 60_000;

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
  void aHalfOpenSubscriptionIsNoticedAndMadeAnew() throws Exception {
    use(LockOptions.builder().lease(Duration.ofMillis(1_500)));
    redis.holdAsStranger(name, TTL_MILLIS);
    AsyncCall<Boolean> waiter = subscribedWaiter();
    proxy.loseNextReply(LossStyle.SILENT, FaultProxy.containing("SUBSCRIBE")); // a heartbeat
    until("nothing comes any more", () -> proxy.repliesLost() == 1);
    redis.server().command("DEL", name);
    redis.server().command("PUBLISH", SharedRedis.channel(name), "0");

    assertPrompt(waiter::get);
  }

  @Test
  void aSubscriptionThatIsNeverConfirmedIsPolledForAndMadeAnew() throws Exception {
    use(LockOptions.builder().lease(Duration.ofMillis(1_500)));
    redis.holdAsStranger(name, TTL_MILLIS);
    proxy.loseNextReply(LossStyle.SILENT, FaultProxy.containing("SUBSCRIBE"));
    AsyncCall<Boolean> waiter = waiter();
    until("the confirmation is lost", () -> proxy.repliesLost() == 1);

    releasesPromptly(waiter);

    redis.holdAsStranger(name, TTL_MILLIS);
    long before = proxy.connectionsAccepted();
    AsyncCall<Boolean> next = waiter();
    until("there is a new connection", () -> proxy.connectionsAccepted() > before);
    until("it is subscribed", () -> redis.subscribers(name) >= 1);
    releasesPromptly(next);
  }

  @Test
  void aHealthySubscriptionSurvivesItsHeartbeats() throws Exception {
    use(LockOptions.builder().lease(Duration.ofMillis(600)));
    redis.holdAsStranger(name, TTL_MILLIS);
    AsyncCall<Boolean> waiter = subscribedWaiter();
    String clients = pubsubClients();
    redis.server().resetStats();

    until("there were some", () -> redis.calls("subscribe") >= 4);

    assertEquals(clients, pubsubClients());
    releasesPromptly(waiter);
  }

  private static String pubsubClients() {
    String list = (String) redis.server().command("CLIENT", "LIST", "TYPE", "pubsub");
    return String.join("\n", list.lines().map(line -> line.split(" ", 2)[0]).toList());
  }

  @Test
  void theSubscriptionTakesNoConnectionFromTheCommands() throws Exception {
    use(LockOptions.builder().maxConnections(1));
    redis.holdAsStranger(name, TTL_MILLIS);
    AsyncCall<Boolean> waiter = subscribedWaiter();

    warm(client);

    releasesPromptly(waiter);
  }

  @Test
  void aChannelLingersForTheNextWaiter() throws Exception {
    redis.server().resetStats();
    for (int i = 0; i < 5; i++) {
      redis.holdAsStranger(name, TTL_MILLIS);
      releasesPromptly(subscribedWaiter());
    }
    assertEquals(1, redis.calls("subscribe"));
    assertEquals(0, redis.calls("unsubscribe"));
  }

  @Test
  void channelsThatAreNotNeededAreLeftAndTheOthersStay() throws Exception {
    use(LockOptions.builder().subscriptionLinger(Duration.ofMillis(50)));
    redis.holdAsStranger(name, TTL_MILLIS);
    AsyncCall<Boolean> waiter = subscribedWaiter();
    String clients = pubsubClients();
    for (int i = 0; i < 3; i++) {
      String passing = freshName();
      redis.holdAsStranger(passing, TTL_MILLIS);
      AsyncCall<Boolean> other =
          AsyncCall.start(() -> new RedisLock(client, passing).tryLock(Duration.ofSeconds(30)));
      until("it is subscribed", () -> redis.subscribers(passing) == 1);
      redis.releaseAsStranger(passing);
      assertTrue(other.get());
      until("the channel is left", () -> redis.subscribers(passing) == 0);
    }
    assertEquals(clients, pubsubClients(), "all over one connection");

    releasesPromptly(waiter);
  }

  @Test
  void afterTheLastChannelIsLeftTheNextWaiterSubscribesAnew() throws Exception {
    use(LockOptions.builder().subscriptionLinger(Duration.ZERO));
    for (int i = 0; i < 3; i++) {
      redis.holdAsStranger(name, TTL_MILLIS);
      releasesPromptly(subscribedWaiter());
      assertIdle(client);
      until("the connection is closed", () -> pubsubClients().isEmpty());
    }
  }
}
