package io.mortise.testkit;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** Waits of an hour that time out at once, and those that do not. */
@ExtendWith(InMemoryRedisExtension.class)
@Timeout(30)
@SuppressWarnings("LockNotBeforeTry") // the tests are about the order of holds
class WaitTimeOutsTest {
  private static final String NAME = "order:42";
  private static final Duration LONG = Duration.ofSeconds(20);
  private static final Duration HOUR = Duration.ofHours(1);

  private final TestThread actor = new TestThread("actor");
  private final TestThread third = new TestThread("third");
  private InMemoryRedis redis;
  private LockClient client;
  private DistributedLock lock;

  @BeforeEach
  void makeLock(InMemoryRedis server, LockClient ofTest) {
    redis = server;
    client = ofTest;
    lock = client.lock(NAME);
  }

  @AfterEach
  void closeThreads() {
    actor.close();
    third.close();
  }

  private Lease occupy() {
    return redis.occupy(other -> other.lock(NAME));
  }

  /** Waits until a thread of the client is parked, behind all that decides about its wait. */
  private void awaitWaiter() {
    await().atMost(LONG).until(() -> client.status().waiters() == 1);
  }

  /** Asserts that no time-out is left: an acquisition waits until the lock is released. */
  private void assertWaits(Lease others) throws Exception {
    Future<Boolean> waiter = actor.start(() -> lock.tryLock(HOUR));
    awaitWaiter();
    others.close();
    assertTrue(TestThread.result(waiter));
    actor.run(lock::unlock);
  }

  @Test
  void everyFormOfAWaitTimesOutOnce() throws Exception {
    Lease others = occupy();
    for (int i = 0; i < 5; i++) {
      redis.timeOutNextWait();
    }

    assertFalse(lock.tryLock(5, TimeUnit.HOURS));
    assertFalse(lock.tryLock(HOUR, HOUR));
    assertEquals(Optional.empty(), lock.acquire(HOUR));
    assertEquals(Optional.empty(), lock.withLease(HOUR).atLeast(HOUR).acquire(HOUR));
    CompletableFuture<Optional<Lease>> async = lock.acquireAsync(HOUR).toCompletableFuture();
    assertEquals(Optional.empty(), async.get());

    assertTrue(others.isValid());
    assertWaits(others);
  }

  @Test
  void aWaitForAThreadOfTheSameClientTimesOut() throws Exception {
    Lease held = lock.acquire();
    redis.timeOutNextWait();

    assertFalse(actor.ask(() -> lock.tryLock(HOUR)));

    assertWaits(held);
  }

  @Test
  void aGrantLeavesItForTheNextBusyLock() throws Exception {
    redis.timeOutNextWait();

    assertTrue(lock.tryLock(HOUR));
    assertTrue(lock.tryLock(HOUR), "a re-entry");
    lock.unlock();
    lock.unlock();
    Lease others = occupy();
    assertFalse(lock.tryLock(), "not a wait");
    assertFalse(lock.tryLock(HOUR));

    assertWaits(others);
  }

  @Test
  void aWaitWithoutAnEndGoesOn() throws Exception {
    Lease others = occupy();
    redis.timeOutNextWait();
    Future<Boolean> endless = actor.start(() -> lock.withLock(() -> true));
    awaitWaiter();

    assertFalse(lock.tryLock(HOUR));

    others.close();
    assertTrue(TestThread.result(endless));
  }

  @Test
  void aWaitThatHasBegunGoesOn() throws Exception {
    Lease others = occupy();
    Future<Boolean> waiter = actor.start(() -> lock.tryLock(HOUR));
    awaitWaiter();
    redis.timeOutNextWait();

    assertFalse(third.ask(() -> redis.client().lock(NAME).tryLock(HOUR)));

    others.close();
    assertTrue(TestThread.result(waiter));
    actor.run(lock::unlock);
  }

  /** It begins with the call, whenever a thread of the client runs it. */
  @Test
  void anAsynchronousWaitThatHasBegunGoesOn() throws Exception {
    Lease others = occupy();
    for (int i = 0; i < 100; i++) {
      CompletableFuture<Optional<Lease>> begun = lock.acquireAsync(HOUR).toCompletableFuture();
      redis.timeOutNextWait();

      assertFalse(lock.tryLock(HOUR));
      assertTrue(begun.cancel(true));
    }
    others.close();
  }

  @Test
  void ofTwoWaitsOneTimesOut() throws Exception {
    DistributedLock other = redis.client().lock(NAME);
    Lease others = occupy();
    redis.timeOutNextWait();

    Future<Boolean> one = actor.start(() -> takeAndRelease(lock));
    Future<Boolean> two = third.start(() -> takeAndRelease(other));
    await().atMost(LONG).until(() -> one.isDone() || two.isDone());
    others.close();

    assertTrue(TestThread.result(one) ^ TestThread.result(two));
  }

  private static boolean takeAndRelease(DistributedLock lock) throws InterruptedException {
    boolean held = lock.tryLock(HOUR);
    if (held) {
      lock.unlock();
    }
    return held;
  }

  @Test
  void aFaultIsThrownAndLeavesItForTheNext() throws Exception {
    Lease others = occupy();
    redis.timeOutNextWait();
    redis.failNext("OOM command not allowed when used memory > 'maxmemory'");

    assertThrows(LockException.class, () -> lock.tryLock(HOUR));
    assertFalse(lock.tryLock(HOUR));

    assertWaits(others);
  }

  @Test
  void anInterruptIsThrownAndLeavesItForTheNext() throws Exception {
    Lease others = occupy();
    redis.timeOutNextWait();
    Thread.currentThread().interrupt();

    assertThrows(InterruptedException.class, () -> lock.tryLock(HOUR));
    assertFalse(lock.tryLock(HOUR));

    assertWaits(others);
  }
}
