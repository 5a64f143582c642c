package io.mortise.it.connections;

import static io.mortise.it.support.Elapsed.millisOf;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A closed client leaves nothing behind. */
@Timeout(60)
class CloseTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration HOUR = Duration.ofHours(1);

  @RegisterExtension
  final LockFixture tested =
      LockFixture.proxied(
              redis, LockOptions.builder().lease(HOUR).commandTimeout(Duration.ofSeconds(5)))
          .warm();

  private final String name = tested.name();
  private final FaultProxy proxy = tested.proxy();
  private final LockClient client = tested.client();
  private final RedisLock lock = tested.lock();

  @BeforeEach
  void theClientHasThreads() {
    assertFalse(ClientResources.threads(client).isEmpty());
  }

  @AfterEach
  void nothingIsLeft() {
    LockClient client = tested.client();
    client.close();
    until("its threads have ended", () -> ClientResources.threads(client).isEmpty());
    until("its connections are closed", () -> proxy.connections() == 0);
    assertEquals(List.of(), redis.command("PUBSUB", "CHANNELS"));
    LockClient.Status status = client.status();
    assertEquals(
        0, status.holds() + status.contended() + status.connectionsInUse(), () -> "" + status);
  }

  private static void assertClosed(AsyncCall<?> caller) {
    LockException thrown = assertThrows(LockException.class, caller::get);
    assertEquals(Reason.CLIENT_CLOSED, thrown.reason(), thrown.getMessage());
  }

  private static void assertClosed(CompletableFuture<?> stage) {
    Throwable failure = assertThrows(CompletionException.class, stage::join).getCause();
    assertEquals(Reason.CLIENT_CLOSED, assertInstanceOf(LockException.class, failure).reason());
  }

  @Test
  void waitersFail() throws Exception {
    redis.holdAsStranger(name, 60_000);
    List<AsyncCall<?>> waiters = new ArrayList<>();
    waiters.add(AsyncCall.start(() -> lock.tryLock(HOUR)));
    redis.awaitSubscriber(name);
    waiters.get(0).awaitParked();
    waiters.add(AsyncCall.start(() -> lock.tryLock(HOUR)).awaitQueued());
    waiters.add(AsyncCall.start(() -> lock.acquire(HOUR)).awaitQueued());
    waiters.add(AsyncCall.run(lock::lock).awaitQueued());
    CompletableFuture<?> stage = lock.acquireAsync(HOUR).toCompletableFuture();

    assertTrue(millisOf(client::close) < 5_000);

    waiters.forEach(CloseTest::assertClosed);
    assertClosed(stage.orTimeout(20, TimeUnit.SECONDS));
    assertEquals(List.of("stranger:1"), redis.holders(name));
    redis.delete(name);
  }

  @Test
  void holdsAreReleasedAndTheirListenersNotified() throws Exception {
    CompletableFuture<LeaseLoss> notified = new CompletableFuture<>();
    lock.lock();
    lock.lease().onLost(notified::complete);
    Lease handle = new RedisLock(client, Names.fresh()).tryAcquire().orElseThrow();
    try (LockClient other = redis.client()) {
      RedisLock lockOfOther = new RedisLock(other, name);
      AsyncCall<Boolean> waiter =
          AsyncCall.start(() -> lockOfOther.tryLock(Duration.ofSeconds(40)));
      redis.awaitSubscriber(name);

      client.close();

      assertTrue(waiter.get(), "the waiter of another client is woken");
    }
    assertEquals(LeaseLoss.Reason.CLIENT_CLOSED, notified.get(20, TimeUnit.SECONDS).reason());
    assertFalse(redis.exists(handle.lockName()));
    assertEquals(Lease.State.LOST, handle.state());
    LeaseLostException thrown = assertThrows(LeaseLostException.class, lock::unlock);
    assertTrue(thrown.getMessage().contains("its client was closed"), thrown.getMessage());
    assertThrows(LeaseLostException.class, handle::close);
  }

  @Test
  void callsAfterwardsAreRefused() {
    client.close();
    client.close();
    assertTrue(client.isClosed());
    for (Runnable call :
        List.<Runnable>of(lock::lock, lock::tryLock, lock::isLocked, lock::forceUnlock)) {
      LockException thrown = assertThrows(LockException.class, call::run);
      assertEquals(Reason.CLIENT_CLOSED, thrown.reason());
      assertTrue(thrown.getMessage().contains(name), thrown.getMessage());
    }
    assertClosed(lock.acquireAsync(HOUR).toCompletableFuture());
  }

  @Test
  void closingDuringAnOutageIsBounded() throws Exception {
    Duration brief = Duration.ofSeconds(1);
    RedisLock lock = tested.use(LockOptions.builder().lease(HOUR).commandTimeout(brief));
    LockClient client = tested.client();
    redis.holdAsStranger(name, 60_000);
    AsyncCall<Boolean> waiter = AsyncCall.start(() -> lock.tryLock(HOUR));
    redis.awaitSubscriber(name);
    for (int i = 0; i < 5; i++) {
      new RedisLock(client, Names.fresh()).lock();
    }
    RedisLock unconfirmed = new RedisLock(client, Names.fresh());
    unconfirmed.lock();
    proxy.blackhole(Direction.TO_CLIENT);
    assertThrows(LockException.class, unconfirmed::unlock);

    long millis = millisOf(client::close);

    assertTrue(millis < 5_000, () -> "a command may take 1 s, closing took " + millis + " ms");
    assertClosed(waiter);
    proxy.restore();
    redis.delete(name);
  }

  @Test
  void aHoldAndAnUnansweredAttemptTakeOneCommandTimeoutTogether() throws Exception {
    LockClient slow =
        LockClient.create(
            proxy.uri(),
            LockOptions.builder().lease(HOUR).commandTimeout(Duration.ofSeconds(4)).build());
    RedisLock held = new RedisLock(slow, Names.fresh());
    held.lock();
    proxy.blackhole(Direction.TO_CLIENT);
    RedisLock wanted = new RedisLock(slow, name);
    AsyncCall<Boolean> attempt = AsyncCall.start(() -> wanted.tryLock(HOUR));
    until("it hangs", () -> slow.status().connectionsInUse() == 1);

    long millis = millisOf(slow::close);

    assertTrue(millis < 7_500, () -> "a command may take 4 s, closing took " + millis + " ms");
    assertThrows(LockException.class, attempt::get);
    assertThrows(LeaseLostException.class, held::unlock);
    proxy.restore();
    redis.delete(name);
    redis.delete(held.name());
  }

  @Test
  void aReleaseKeepsItsConnectionUntilItIsDone() throws Exception {
    LockOptions options =
        LockOptions.builder()
            .lease(HOUR)
            .commandTimeout(Duration.ofSeconds(5))
            .tuning(t -> t.maxConnections(1))
            .build();
    LockClient closing = LockClient.create(proxy.uri(), options);
    RedisLock first = new RedisLock(closing, Names.fresh());
    RedisLock second = new RedisLock(closing, Names.fresh());
    proxy.delay(Direction.TO_SERVER, Duration.ofMillis(100));
    CountDownLatch held = new CountDownLatch(2);
    CountDownLatch go = new CountDownLatch(1);
    List<AsyncCall<Void>> owners = new ArrayList<>();
    for (RedisLock mine : List.of(first, second)) {
      owners.add(
          AsyncCall.run(
              () -> {
                mine.lock();
                held.countDown();
                go.await();
                mine.unlock();
              }));
    }
    held.await();
    go.countDown();
    until("both are releasing", () -> closing.status().holds() == 0);

    closing.close();

    AsyncCall.join(owners);
    assertFalse(redis.exists(first.name()));
    assertFalse(redis.exists(second.name()));
  }

  /** The commands of few threads go on several connections; those of many are combined. */
  @ParameterizedTest
  @ValueSource(ints = {4, 32})
  void anAttemptThatIsGrantedWhileTheClientClosesIsReleased(int threads) throws Exception {
    for (int round = 0; round < 20; round++) {
      LockClient closing =
          LockClient.create(redis.uri(), LockOptions.builder().lease(HOUR).build());
      List<String> names = new ArrayList<>();
      List<AsyncCall<Void>> callers = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        RedisLock mine = new RedisLock(closing, Names.fresh());
        names.add(mine.name());
        callers.add(
            AsyncCall.run(
                () -> {
                  while (true) {
                    mine.lock();
                    mine.unlock();
                  }
                }));
      }
      until("they work", () -> closing.status().connectionsInUse() > 0);
      closing.close();
      for (AsyncCall<Void> caller : callers) {
        Exception thrown = assertThrows(Exception.class, caller::get);
        assertTrue(
            thrown instanceof LockException || thrown instanceof LeaseLostException,
            thrown::toString);
      }
      for (String each : names) {
        assertFalse(redis.exists(each), "round " + round);
      }
    }
  }
}
