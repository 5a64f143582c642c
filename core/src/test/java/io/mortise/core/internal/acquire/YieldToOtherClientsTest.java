package io.mortise.core.internal.acquire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.connection.pubsub.Subscriptions.Subscription;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.engine.TestClients;
import io.mortise.core.internal.lease.ReleaseFairness;
import io.mortise.scripts.Script;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A client whose release another client has heard pauses before its next attempt, until it is
 * notified itself. In this test the pause never ends by itself.
 */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // the test is about the time of attempts
class YieldToOtherClientsTest {
  private static final long PAUSE_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final LockOptions OPTIONS = LockOptions.defaults();
  private static final String ACQUIRE = new String(Script.load("lock/acquire").sha1(), UTF_8);
  private static final String RELEASE = new String(Script.load("lock/release").sha1(), UTF_8);
  private static final String GRANTED = RespServer.integers(List.of(1L, 42L, 0L));

  /** One other client hears a release; this client hears the channel of the lock too. */
  private static final String HEARD = RespServer.integers(List.of(1L, 2L));

  /** By the SHA-1 of the script. */
  private final Map<String, String> answers =
      new ConcurrentHashMap<>(Map.of(ACQUIRE, GRANTED, RELEASE, HEARD));

  private final RespServer server =
      new RespServer(
          command ->
              command.get(0).equals("SUBSCRIBE")
                  ? RespServer.subscribed(command)
                  : answers.getOrDefault(command.get(1), RespServer.SILENCE));
  private final ReleaseFairness fairness = new ReleaseFairness(PAUSE_NANOS, 0);
  private final RedisLockClient client = TestClients.of(server, OPTIONS, Thread::new, fairness);
  private final RedisLock lock = new RedisLock(client, "orders");
  private final Subscription ofLock = subscribe("redisson_lock__channel:{orders}");
  private final Subscription ofClient = subscribe("redisson_lock__channel:{orders}:" + client.id());

  private Subscription subscribe(String channel) {
    return client.context().subscriptions().subscribe(channel, true);
  }

  @BeforeEach
  void confirmed() {
    await().atMost(BackgroundCall.LIVENESS).until(() -> ofLock.confirmed() && ofClient.confirmed());
  }

  @AfterEach
  void close() {
    client.close();
    server.close();
  }

  private BackgroundCall<Void> attempting() {
    return BackgroundCall.startAndPark(
        () -> {
          lock.lock();
          return null;
        });
  }

  private long attempts() {
    return server.heard().stream().filter(command -> command.contains(ACQUIRE)).count();
  }

  private void assertSilent(BackgroundCall<?> thread) {
    thread.awaitParked();
    long before = attempts();
    await()
        .pollDelay(Duration.ZERO)
        .during(Duration.ofMillis(100))
        .atMost(BackgroundCall.LIVENESS)
        .until(() -> attempts() == before);
  }

  @Test
  void theReleasingClientAttemptsAgainWhenItIsNotified() throws Exception {
    lock.lock();
    lock.unlock();
    BackgroundCall<Void> again = attempting();
    ofLock.signal().fire(); // its own release
    assertSilent(again);
    assertEquals(1, attempts());

    ofClient.signal().fire();

    again.get();
    assertEquals(2, attempts());
  }

  /** The channel of the client is not subscribed, when none of its threads was registered. */
  @Test
  void aMessageToAllDoesNotEndThePause() throws Exception {
    Subscription ofOther = subscribe("redisson_lock__channel:{parcels}");
    await().atMost(BackgroundCall.LIVENESS).until(ofOther::confirmed);
    RedisLock other = new RedisLock(client, "parcels");
    other.lock();
    other.unlock();
    BackgroundCall<Boolean> again =
        BackgroundCall.startAndPark(() -> other.tryLock(1, TimeUnit.HOURS));
    ofOther.signal().fire(); // its own release
    assertSilent(again);
    assertEquals(1, attempts());

    again.interrupt();
    await().atMost(BackgroundCall.LIVENESS).until(again::isDone);
  }

  @Test
  void anInterruptOrACloseEndsThePause() throws Exception {
    lock.lock();
    lock.unlock();
    BackgroundCall<Boolean> interrupted =
        BackgroundCall.startAndPark(() -> lock.tryLock(1, TimeUnit.HOURS));
    interrupted.interrupt();
    await().atMost(BackgroundCall.LIVENESS).until(interrupted::isDone);
    BackgroundCall<Void> closed = attempting();

    client.close();

    await().atMost(BackgroundCall.LIVENESS).until(closed::isDone);
    assertEquals(1, attempts());
  }

  @Test
  void theEndOfTheWaitEndsThePause() throws Exception {
    lock.lock();
    lock.unlock();
    try {
      var unused = lock.tryLock(50, TimeUnit.MILLISECONDS);
    } catch (LockException late) { // a machine that stands still: it has attempted all the same
      assertEquals(LockException.Reason.UNREACHABLE, late.reason());
    }
    await().atMost(BackgroundCall.LIVENESS).until(() -> attempts() == 2);
  }
}
