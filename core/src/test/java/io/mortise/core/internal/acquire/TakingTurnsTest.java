package io.mortise.core.internal.acquire;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.connection.pubsub.Subscriptions.Subscription;
import io.mortise.connection.testing.BackgroundCall;
import io.mortise.connection.testing.RespServer;
import io.mortise.connection.testing.TestSettings;
import io.mortise.connection.topology.TopologyFactory;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.spi.LockProtocol;
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
 * Whoever had the lock asks again when those who heard of its release had their turn: here the
 * moment that it waits for them never ends by itself.
 */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who asks when is what is tested
class TakingTurnsTest {
  private static final long MOMENT_NANOS = TimeUnit.HOURS.toNanos(1);
  private static final LockOptions OPTIONS = LockOptions.defaults();
  private static final String ACQUIRE = new String(Script.load("lock/acquire").sha1(), UTF_8);
  private static final String RELEASE = new String(Script.load("lock/release").sha1(), UTF_8);
  private static final String GRANTED = RespServer.integers(List.of(1L, 42L, 0L));
  private static final String BUSY = RespServer.integers(List.of(0L, 60_000L));

  /** How many others hear of a release; this client hears it too. */
  private static final long OTHERS = 2;

  /** By the SHA-1 of the script. */
  private final Map<String, String> answers =
      new ConcurrentHashMap<>(
          Map.of(ACQUIRE, GRANTED, RELEASE, RespServer.integers(List.of(1L, OTHERS + 1))));

  private final RespServer server =
      new RespServer(
          command ->
              command.get(0).equals("SUBSCRIBE")
                  ? RespServer.subscribed(command)
                  : answers.getOrDefault(command.get(1), RespServer.SILENCE));
  private final ReleaseFairness courtesy = new ReleaseFairness(MOMENT_NANOS);
  private final RedisLockClient engine =
      new RedisLockClient(
          OPTIONS,
          workers -> TopologyFactory.create(server.uri(), TestSettings.DEFAULTS, workers),
          Thread::new,
          courtesy);
  private final RedisLock lock = new RedisLock(engine, "orders");
  private final LockProtocol protocol = new FakeProtocol("orders");
  private final Subscription channel =
      engine.context().subscriptions().subscribe("redisson_lock__channel:{orders}", true);

  @BeforeEach
  void confirmed() {
    await().atMost(BackgroundCall.LIVENESS).until(channel::confirmed);
  }

  @AfterEach
  void close() {
    engine.close();
    server.close();
  }

  private BackgroundCall<Void> asking() {
    return BackgroundCall.startAndPark(
        () -> {
          lock.lock();
          return null;
        });
  }

  private void message() {
    channel.signal().fire();
  }

  private long asked() {
    return server.heard().stream().filter(command -> command.contains(ACQUIRE)).count();
  }

  private void assertSilent(BackgroundCall<?> thread) {
    thread.awaitParked();
    long before = asked();
    await()
        .pollDelay(Duration.ZERO)
        .during(Duration.ofMillis(100))
        .atMost(BackgroundCall.LIVENESS)
        .until(() -> asked() == before);
  }

  @Test
  void whoReleasedAsksAgainAfterTheTurnsOfTheOthers() throws Exception {
    lock.lock();
    lock.unlock();
    BackgroundCall<Void> again = asking();
    message(); // of its own release
    assertSilent(again);
    message();
    assertSilent(again);
    assertEquals(1, asked());

    message(); // the last of the others has released it

    again.get();
    assertEquals(2, asked());
  }

  @Test
  void whoWaitsForTheHolderLetsTheOthersGoFirstToo() throws Exception {
    answers.put(ACQUIRE, BUSY);
    BackgroundCall<Void> waiting = asking();
    await().atMost(BackgroundCall.LIVENESS).until(() -> asked() == 1);
    waiting.awaitParked();
    long longAgo = engine.context().nanos() - 2 * MOMENT_NANOS;
    courtesy.onReleased(protocol, OTHERS, channel.signal().generation(), longAgo);
    answers.put(ACQUIRE, GRANTED);

    message();
    assertSilent(waiting);
    message();
    assertSilent(waiting);
    assertEquals(1, asked());

    message();

    waiting.get();
    assertEquals(2, asked());
  }

  @Test
  void whoIsInterruptedOrClosedDoesNotWaitForAnybody() throws Exception {
    lock.lock();
    lock.unlock();
    BackgroundCall<Boolean> interrupted =
        BackgroundCall.startAndPark(() -> lock.tryLock(1, TimeUnit.HOURS));
    interrupted.interrupt();
    await().atMost(BackgroundCall.LIVENESS).until(interrupted::isDone);
    BackgroundCall<Void> closed = asking();

    engine.close();

    await().atMost(BackgroundCall.LIVENESS).until(closed::isDone);
    assertEquals(1, asked());
  }

  @Test
  void whoHasWaitedLongEnoughAsksWithoutWaitingForAnybody() throws Exception {
    lock.lock();
    lock.unlock();
    lock.tryLock(50, TimeUnit.MILLISECONDS);
    assertEquals(2, asked());
  }
}
