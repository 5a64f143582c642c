package io.mortise.it.waiting;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An interrupt at any step leaves nothing held, and is never lost. */
@Timeout(60)
class InterruptTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration HOUR = Duration.ofHours(1);

  /** An attempt that an interrupt ends stays pending until its lease is over. */
  private static final Duration UNANSWERED = Duration.ofSeconds(6);

  @RegisterExtension
  final LockFixture tested =
      LockFixture.proxied(redis, options().lease(UNANSWERED)).warm().leavingNothing();

  private final String name = tested.name();
  private final FaultProxy proxy = tested.proxy();
  private final RedisLock lock = tested.lock();

  AsyncCall.Threads threads() {
    return AsyncCall.Threads.PLATFORM;
  }

  private <T> AsyncCall<T> start(Callable<T> call) {
    return AsyncCall.start(threads(), call);
  }

  private static LockOptions.Builder options() {
    return LockOptions.builder()
        .commandTimeout(Duration.ofSeconds(10))
        .tuning(t -> t.subscriptionLinger(Duration.ZERO));
  }

  private static String outcome(Callable<?> call) throws Exception {
    try {
      return "returned " + call.call();
    } catch (InterruptedException e) {
      assertTrue(
          String.valueOf(e.getMessage()).startsWith("interrupted while waiting for lock '"),
          e::toString);
      return Thread.interrupted() ? "thrown, and the status is still set" : "thrown";
    }
  }

  @Test
  void anInterruptBeforeTheCallEndsItAndNothingIsSent() throws Exception {
    redis.resetStats();
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
  void callsThatAreNotInterruptibleWorkWithTheStatusSetAndKeepIt() throws Exception {
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
    assertTrue(caller.get(), "the status is still set");
  }

  @Test
  void anInterruptInTheLocalQueueEndsTheWait() throws Exception {
    lock.lock();
    AsyncCall<String> second = start(() -> outcome(() -> lock.tryLock(HOUR)));
    second.awaitQueued();
    AsyncCall<Void> third =
        start(
            () -> {
              lock.lockInterruptibly();
              lock.unlock();
              return null;
            });
    third.awaitQueued();

    second.interrupt();

    assertEquals("thrown", second.get());
    lock.unlock();
    third.get();
  }

  @Test
  void anInterruptWhileTheReplyIsInTransitEndsTheWait() throws Exception {
    redis.holdAsStranger(name, 60_000);
    proxy.delay(Direction.TO_CLIENT, HOUR);
    redis.resetStats();
    AsyncCall<String> caller = start(() -> outcome(() -> lock.tryLock(HOUR)));
    until("the attempt was made", () -> redis.calls("evalsha") > 0);

    caller.interrupt();
    proxy.restore();

    assertEquals("thrown", caller.get());
    assertEquals(List.of("stranger:1"), redis.holders(name));
    redis.releaseAsStranger(name);
  }

  @Test
  void anInterruptWhileTheGrantIsInTransitLeavesTheLockHeldAndTheStatusSet() throws Exception {
    proxy.delay(Direction.TO_CLIENT, HOUR);
    redis.resetStats();
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
  void anInterruptWithoutAReplyLeavesNothingHeldLongBeforeTheTtl() throws Exception {
    RedisLock lock = tested.use(options().commandTimeout(Duration.ofMillis(400)).lease(HOUR));
    proxy.blackhole(Direction.TO_CLIENT);
    AsyncCall<String> caller = start(() -> outcome(() -> lock.tryLock(HOUR)));
    until("Redis has granted the lock", () -> redis.exists(name));

    caller.interrupt();

    assertEquals("thrown", caller.get());
    proxy.restore();
    until("it was released in the background", () -> !redis.exists(name));
    // The attempt stays pending until its lease is over: only another client can become idle.
    tested.use(options());
  }

  @Test
  void anInterruptWhileParkedEndsTheWait() throws Exception {
    redis.holdAsStranger(name, 60_000);
    AsyncCall<String> caller = start(() -> outcome(() -> lock.tryLock(HOUR)));
    redis.awaitSubscriber(name);
    caller.awaitParked();

    caller.interrupt();

    assertEquals("thrown", caller.get());
    assertEquals(List.of("stranger:1"), redis.holders(name));
    redis.releaseAsStranger(name);
    holdsFor(Duration.ofMillis(100), "it stays free", () -> !redis.exists(name));
  }

  @Test
  void lockWaitsThroughInterruptsAndKeepsTheStatus() throws Exception {
    redis.holdAsStranger(name, 60_000);
    Callable<Boolean> call =
        () -> {
          lock.lock();
          boolean status = Thread.currentThread().isInterrupted();
          lock.unlock();
          return status;
        };
    AsyncCall<Boolean> first = start(call);
    redis.awaitSubscriber(name);
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
  void anInterruptWhileAllConnectionsAreInUseBreaksNoCommand() throws Exception {
    RedisLock lock = tested.use(options().tuning(t -> t.maxConnections(1)));
    RedisLock other = new RedisLock(tested.client(), Names.fresh());
    other.lock();
    AsyncCall<Boolean> busy = startQueryWithoutReply(other);
    AsyncCall<Boolean> uninterruptible =
        start(
            () -> {
              boolean acquired = lock.tryLock();
              assertTrue(Thread.interrupted());
              lock.unlock();
              return acquired;
            });
    uninterruptible.awaitIn(Semaphore.class);

    uninterruptible.interrupt();
    proxy.restore();

    assertTrue(busy.get());
    assertTrue(uninterruptible.get());
    other.unlock();
  }

  /** Starts a call that keeps the only connection in use until the proxy is restored. */
  private AsyncCall<Boolean> startQueryWithoutReply(RedisLock other) {
    proxy.delay(Direction.TO_CLIENT, HOUR);
    AsyncCall<Boolean> busy = start(other::isLocked);
    until("the connection is in use", () -> tested.client().status().connectionsInUse() == 1);
    return busy;
  }

  @Test
  void anInterruptWhileUnlockWaitsForAConnectionDoesNotStopTheRelease() throws Exception {
    RedisLock lock = tested.use(options().tuning(t -> t.maxConnections(1)));
    RedisLock other = new RedisLock(tested.client(), Names.fresh());
    AtomicBoolean unlocking = new AtomicBoolean();
    AsyncCall<Boolean> owner =
        start(
            () -> {
              lock.lock(); // may wait for the connection, too
              AsyncCall<Boolean> busy = startQueryWithoutReply(other);
              unlocking.set(true);
              lock.unlock();
              boolean interrupted = Thread.interrupted(); // cleared: what follows may wait
              assertFalse(busy.get());
              return interrupted;
            });
    until("the only connection is in use by the query", unlocking::get);
    owner.awaitIn(Semaphore.class);

    owner.interrupt();
    proxy.restore();

    assertTrue(owner.get(), "the status is still set, and nothing was thrown");
  }

  @Test
  void aCancelledAsynchronousWaitLeavesNothing() throws Exception {
    redis.holdAsStranger(name, 60_000);
    var stage = lock.acquireAsync(HOUR).toCompletableFuture();
    redis.awaitSubscriber(name);

    stage.cancel(true);

    assertThrows(CancellationException.class, stage::join);
    ClientResources.awaitNone(tested.client());
    redis.releaseAsStranger(name);
    holdsFor(Duration.ofMillis(100), "it stays free", () -> !redis.exists(name));
  }
}
