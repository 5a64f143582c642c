package io.mortise.it.connections;

import static io.mortise.it.support.Elapsed.millisOf;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.freshName;
import static io.mortise.it.support.SharedRedis.warm;
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

/** Pitfall 36, and the promise that a closed client leaves nothing behind. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class CloseTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration HOUR = Duration.ofHours(1);

  private final String name = freshName();
  private FaultProxy proxy;
  private LockClient client;
  private RedisLock lock;

  @BeforeEach
  void open() {
    proxy = FaultProxy.to(redis.server());
    client =
        LockClient.create(
            proxy.uri(),
            LockOptions.builder().lease(HOUR).commandTimeout(Duration.ofSeconds(1)).build());
    lock = new RedisLock(client, name);
    warm(client);
    assertFalse(ClientResources.threads(client).isEmpty());
  }

  @AfterEach
  void nothingIsLeft() {
    client.close();
    until("its threads have ended", () -> ClientResources.threads(client).isEmpty());
    until("its connections are closed", () -> proxy.connections() == 0);
    assertEquals(List.of(), redis.server().command("PUBSUB", "CHANNELS"));
    LockClient.Status status = client.status();
    assertEquals(
        0, status.holds() + status.contended() + status.connectionsInUse(), () -> "" + status);
    proxy.close();
  }

  private static void assertClosed(AsyncCall<?> caller) {
    LockException thrown = assertThrows(LockException.class, caller::get);
    assertEquals(Reason.CLIENT_CLOSED, thrown.reason(), thrown.getMessage());
  }

  @Test
  void whoWaitsIsTold() throws Exception {
    redis.holdAsStranger(name, 60_000);
    List<AsyncCall<?>> waiters = new ArrayList<>();
    waiters.add(AsyncCall.start(() -> lock.tryLock(HOUR)));
    until("it is subscribed", () -> redis.subscribers(name) == 1);
    waiters.get(0).awaitParked();
    waiters.add(AsyncCall.start(() -> lock.tryLock(HOUR)).awaitQueued());
    waiters.add(AsyncCall.start(() -> lock.acquire(HOUR)).awaitQueued());
    AsyncCall<Boolean> unbounded =
        AsyncCall.start(
            () -> {
              lock.lock();
              return true;
            });
    waiters.add(unbounded.awaitQueued());
    CompletableFuture<?> stage = lock.acquireAsync(HOUR).toCompletableFuture();

    assertTrue(millisOf(() -> close(client)) < 5_000);

    for (AsyncCall<?> waiter : waiters) {
      assertClosed(waiter);
    }
    Throwable told =
        assertThrows(CompletionException.class, () -> stage.orTimeout(20, TimeUnit.SECONDS).join())
            .getCause();
    assertEquals(Reason.CLIENT_CLOSED, assertInstanceOf(LockException.class, told).reason());
    assertEquals(List.of("stranger:1"), redis.holders(name));
    redis.server().command("DEL", name);
  }

  private static boolean close(LockClient client) {
    client.close();
    return true;
  }

  @Test
  void whatIsHeldIsReleasedAndTold() throws Exception {
    CompletableFuture<LeaseLoss> told = new CompletableFuture<>();
    lock.lock();
    lock.lease().onLost(told::complete);
    Lease handle = new RedisLock(client, freshName()).tryAcquire().orElseThrow();
    try (LockClient other = redis.client()) {
      RedisLock lockOfOther = new RedisLock(other, name);
      AsyncCall<Boolean> waiter =
          AsyncCall.start(() -> lockOfOther.tryLock(Duration.ofSeconds(40)));
      until("it is subscribed", () -> redis.subscribers(name) == 1);

      client.close();

      assertTrue(waiter.get(), "who waits elsewhere is woken");
    }
    assertEquals(LeaseLoss.Reason.CLIENT_CLOSED, told.get(20, TimeUnit.SECONDS).reason());
    assertFalse(redis.exists(handle.lockName()));
    assertEquals(Lease.State.LOST, handle.state());
    LeaseLostException thrown = assertThrows(LeaseLostException.class, lock::unlock);
    assertTrue(thrown.getMessage().contains("its client was closed"), thrown.getMessage());
    assertThrows(LeaseLostException.class, handle::close);
  }

  @Test
  void whatIsAskedAfterwardsIsRefused() {
    client.close();
    client.close();
    assertTrue(client.isClosed());
    for (Runnable call :
        List.<Runnable>of(lock::lock, lock::tryLock, lock::isLocked, lock::forceUnlock)) {
      LockException thrown = assertThrows(LockException.class, call::run);
      assertEquals(Reason.CLIENT_CLOSED, thrown.reason());
      assertTrue(thrown.getMessage().contains(name), thrown.getMessage());
    }
    Throwable told =
        assertThrows(
                CompletionException.class,
                () -> lock.acquireAsync(HOUR).toCompletableFuture().join())
            .getCause();
    assertEquals(Reason.CLIENT_CLOSED, assertInstanceOf(LockException.class, told).reason());
  }

  @Test
  void closingDuringAnOutageIsBounded() throws Exception {
    redis.holdAsStranger(name, 60_000);
    AsyncCall<Boolean> waiter = AsyncCall.start(() -> lock.tryLock(HOUR));
    until("it is subscribed", () -> redis.subscribers(name) == 1);
    for (int i = 0; i < 5; i++) {
      new RedisLock(client, freshName()).lock();
    }
    RedisLock unconfirmed = new RedisLock(client, freshName());
    unconfirmed.lock();
    proxy.swallow(Direction.TO_CLIENT);
    assertThrows(LockException.class, unconfirmed::unlock);

    long millis = millisOf(() -> close(client));

    assertTrue(millis < 5_000, () -> "a command may take 1 s, closing took " + millis + " ms");
    assertClosed(waiter);
    proxy.restore();
    redis.server().command("DEL", name);
  }

  @Test
  void aHoldAndAnAttemptThatHangsTogetherTakeOneCommandsTime() throws Exception {
    RedisLock held = new RedisLock(client, freshName());
    held.lock();
    proxy.swallow(Direction.TO_CLIENT);
    AsyncCall<Boolean> attempt = AsyncCall.start(() -> lock.tryLock(HOUR));
    until("it hangs", () -> client.status().connectionsInUse() == 1);

    long millis = millisOf(() -> close(client));

    assertTrue(millis < 1_900, () -> "a command may take 1 s, closing took " + millis + " ms");
    assertThrows(LockException.class, attempt::get);
    assertThrows(LeaseLostException.class, held::unlock);
    proxy.restore();
    redis.server().command("DEL", name);
    redis.server().command("DEL", held.name());
  }

  @Test
  void whatIsBeingReleasedKeepsItsConnectionUntilItIs() throws Exception {
    LockOptions one =
        LockOptions.builder()
            .lease(HOUR)
            .commandTimeout(Duration.ofSeconds(5))
            .maxConnections(1)
            .build();
    LockClient closing = LockClient.create(proxy.uri(), one);
    RedisLock first = new RedisLock(closing, freshName());
    RedisLock second = new RedisLock(closing, freshName());
    proxy.delay(Direction.TO_SERVER, Duration.ofMillis(100));
    CountDownLatch held = new CountDownLatch(2);
    CountDownLatch go = new CountDownLatch(1);
    List<AsyncCall<Boolean>> owners = new ArrayList<>();
    for (RedisLock mine : List.of(first, second)) {
      owners.add(
          AsyncCall.start(
              () -> {
                mine.lock();
                held.countDown();
                go.await();
                mine.unlock();
                return true;
              }));
    }
    held.await();
    go.countDown();
    until("both are releasing", () -> closing.status().holds() == 0);

    closing.close();

    for (AsyncCall<Boolean> owner : owners) {
      assertTrue(owner.get());
    }
    assertFalse(redis.exists(first.name()));
    assertFalse(redis.exists(second.name()));
  }

  /** Few commands go each on a connection of its own, many together. */
  @ParameterizedTest
  @ValueSource(ints = {4, 32})
  void anAttemptThatIsGrantedWhileTheClientClosesIsReleased(int threads) throws Exception {
    for (int round = 0; round < 20; round++) {
      LockClient closing =
          LockClient.create(redis.uri(), LockOptions.builder().lease(HOUR).build());
      List<String> names = new ArrayList<>();
      List<AsyncCall<Boolean>> callers = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        RedisLock mine = new RedisLock(closing, freshName());
        names.add(mine.name());
        callers.add(
            AsyncCall.start(
                () -> {
                  while (true) {
                    mine.lock();
                    mine.unlock();
                  }
                }));
      }
      until("they are at work", () -> closing.status().connectionsInUse() > 0);
      closing.close();
      for (AsyncCall<Boolean> caller : callers) {
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
