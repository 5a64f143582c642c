package io.mortise.it.waiting;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.assertIdle;
import static io.mortise.it.support.SharedRedis.freshName;
import static io.mortise.it.support.SharedRedis.warm;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pitfalls 1 and 35: an interrupt at any stage leaves nothing held, and is never lost. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class InterruptTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration HOUR = Duration.ofHours(1);

  private final String name = freshName();
  private FaultProxy proxy;
  private LockClient client;
  private RedisLock lock;

  AsyncCall.Threads threads() {
    return AsyncCall.Threads.PLATFORM;
  }

  private <T> AsyncCall<T> start(Callable<T> call) {
    return AsyncCall.start(threads(), call);
  }

  @BeforeEach
  void open() {
    proxy = FaultProxy.to(redis.server());
    // An attempt that an interrupt cuts off is watched for until its lease is over: 2 s.
    use(LockOptions.builder().commandTimeout(Duration.ofSeconds(10)).lease(Duration.ofSeconds(2)));
  }

  private void use(LockOptions.Builder options) {
    if (client != null) {
      client.close();
    }
    client = LockClient.create(proxy.uri(), options.subscriptionLinger(Duration.ZERO).build());
    lock = new RedisLock(client, name);
    warm(client);
  }

  @AfterEach
  void nothingIsLeft() {
    assertIdle(client);
    client.close();
    proxy.close();
    assertFalse(redis.exists(name), "nothing stays held");
  }

  private static String outcome(Callable<?> call) throws Exception {
    try {
      return "returned " + call.call();
    } catch (InterruptedException e) {
      return Thread.interrupted() ? "thrown, and the status left standing" : "thrown";
    }
  }

  @Test
  void anInterruptBeforeTheCallEndsItAndNothingIsSent() throws Exception {
    redis.server().resetStats();
    List<Callable<?>> calls =
        List.of(
            () -> {
              lock.lockInterruptibly();
              return true;
            },
            () -> lock.tryLock(HOUR),
            () -> lock.acquire(HOUR),
            () -> lock.tryLock(Duration.ZERO));
    for (Callable<?> call : calls) {
      AsyncCall<String> caller =
          start(
              () -> {
                Thread.currentThread().interrupt();
                return outcome(call);
              });
      assertEquals("thrown", caller.get());
    }
    assertEquals(0, redis.calls("evalsha"));
  }

  @Test
  void callsThatAreNotInterruptibleWorkUnderAnInterruptAndKeepIt() throws Exception {
    AsyncCall<Boolean> caller =
        start(
            () -> {
              Thread.currentThread().interrupt();
              lock.lock();
              assertTrue(lock.tryLock());
              assertTrue(lock.isLocked());
              lock.unlock();
              lock.unlock();
              assertFalse(lock.isLocked());
              lock.tryAcquire().orElseThrow().close();
              return Thread.currentThread().isInterrupted();
            });
    assertTrue(caller.get(), "the status stands");
  }

  @Test
  void anInterruptInTheLineOfThisClientEndsTheWait() throws Exception {
    lock.lock();
    AsyncCall<String> second = start(() -> outcome(() -> lock.tryLock(HOUR)));
    second.awaitQueued();
    AsyncCall<Boolean> third =
        start(
            () -> {
              lock.lockInterruptibly();
              lock.unlock();
              return true;
            });
    third.awaitQueued();

    second.interrupt();

    assertEquals("thrown", second.get());
    lock.unlock();
    assertTrue(third.get(), "and the line goes on");
  }

  @Test
  void anInterruptWhileTheAnswerIsOnItsWayEndsTheWait() throws Exception {
    redis.holdAsStranger(name, 60_000);
    proxy.delay(Direction.TO_CLIENT, HOUR);
    redis.server().resetStats();
    AsyncCall<String> caller = start(() -> outcome(() -> lock.tryLock(HOUR)));
    until("the attempt was made", () -> redis.calls("evalsha") > 0);

    caller.interrupt();
    proxy.restore();

    assertEquals("thrown", caller.get());
    assertEquals(List.of("stranger:1"), redis.holders(name));
    redis.releaseAsStranger(name);
  }

  @Test
  void anInterruptWhileTheGrantIsOnItsWayLeavesTheLockHeldAndTheStatusSet() throws Exception {
    proxy.delay(Direction.TO_CLIENT, HOUR);
    redis.server().resetStats();
    AsyncCall<String> caller =
        start(
            () -> {
              lock.lockInterruptibly();
              String found =
                  lock.holdCount() + " held, status " + Thread.currentThread().isInterrupted();
              lock.unlock();
              return found;
            });
    until("the attempt was made", () -> redis.calls("evalsha") > 0);

    caller.interrupt();
    proxy.restore();

    assertEquals("1 held, status true", caller.get());
  }

  @Test
  void anInterruptWhileTheAnswerNeverComesLeavesNothingHeldLongBeforeTheTtl() throws Exception {
    use(LockOptions.builder().commandTimeout(Duration.ofMillis(400)).lease(HOUR));
    proxy.swallow(Direction.TO_CLIENT);
    AsyncCall<String> caller = start(() -> outcome(() -> lock.tryLock(HOUR)));
    until("Redis has granted the lock", () -> redis.exists(name));

    caller.interrupt();

    assertEquals("thrown", caller.get());
    proxy.restore();
    until("it was released in the background", () -> !redis.exists(name));
    // Until the lease is over a late attempt may still arrive: the client stays watchful.
    client.close();
    use(LockOptions.builder());
  }

  @Test
  void anInterruptWhileParkedEndsTheWait() throws Exception {
    redis.holdAsStranger(name, 60_000);
    AsyncCall<String> caller = start(() -> outcome(() -> lock.tryLock(HOUR)));
    until("it is subscribed", () -> redis.subscribers(name) == 1);
    caller.awaitParked();

    caller.interrupt();

    assertEquals("thrown", caller.get());
    assertEquals(List.of("stranger:1"), redis.holders(name));
    redis.releaseAsStranger(name);
    holdsFor(Duration.ofMillis(100), "nobody takes it", () -> !redis.exists(name));
  }

  @Test
  void lockGoesOnWaitingThroughInterruptsAndKeepsTheStatus() throws Exception {
    redis.holdAsStranger(name, 60_000);
    Callable<Boolean> call =
        () -> {
          lock.lock();
          boolean status = Thread.currentThread().isInterrupted();
          lock.unlock();
          return status;
        };
    AsyncCall<Boolean> first = start(call);
    until("it is subscribed", () -> redis.subscribers(name) == 1);
    first.awaitParked();
    AsyncCall<Boolean> second = start(call);
    second.awaitQueued();
    for (int i = 0; i < 3; i++) {
      first.interrupt();
      second.interrupt();
    }
    holdsFor(Duration.ofMillis(100), "both wait", () -> !first.isDone() && !second.isDone());

    redis.releaseAsStranger(name);

    assertTrue(first.get());
    assertTrue(second.get());
  }

  @Test
  void anInterruptWhileAllConnectionsAreInUseSpoilsNoCommand() throws Exception {
    use(LockOptions.builder().commandTimeout(Duration.ofSeconds(10)).maxConnections(1));
    RedisLock other = new RedisLock(client, freshName());
    other.lock();
    proxy.delay(Direction.TO_CLIENT, HOUR);
    AsyncCall<Boolean> busy = start(other::isLocked);
    until("the connection is in use", () -> client.status().connectionsInUse() == 1);
    AsyncCall<Boolean> uninterruptible =
        start(
            () -> {
              boolean got = lock.tryLock();
              assertTrue(Thread.interrupted());
              lock.unlock();
              return got;
            });
    uninterruptible.awaitIn(Semaphore.class);

    uninterruptible.interrupt();
    proxy.restore();

    assertTrue(busy.get());
    assertTrue(uninterruptible.get());
    other.unlock();
  }

  @Test
  void anInterruptWhileUnlockWaitsForAConnectionReleasesAllTheSame() throws Exception {
    use(LockOptions.builder().commandTimeout(Duration.ofSeconds(10)).maxConnections(1));
    AsyncCall<Boolean> owner =
        start(
            () -> {
              lock.lock();
              proxy.delay(Direction.TO_CLIENT, HOUR);
              AsyncCall<Boolean> busy = start(new RedisLock(client, freshName())::isLocked);
              until("the connection is in use", () -> client.status().connectionsInUse() == 1);
              lock.unlock();
              boolean interrupted = Thread.interrupted(); // cleared: what follows may wait
              assertFalse(busy.get());
              return interrupted;
            });
    owner.awaitIn(Semaphore.class);

    owner.interrupt();
    proxy.restore();

    assertTrue(owner.get(), "the status stands, and nothing was thrown");
  }

  @Test
  void anInterruptedAsynchronousWaitIsACancelledOne() throws Exception {
    redis.holdAsStranger(name, 60_000);
    var stage = lock.acquireAsync(HOUR).toCompletableFuture();
    until("it is subscribed", () -> redis.subscribers(name) == 1);

    stage.cancel(true);

    assertThrows(java.util.concurrent.CancellationException.class, stage::join);
    assertIdle(client);
    redis.releaseAsStranger(name);
    holdsFor(Duration.ofMillis(100), "nobody takes it", () -> !redis.exists(name));
  }
}
