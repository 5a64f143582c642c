package io.mortise.testkit;

import static io.mortise.testkit.ContractTimings.SHORT;
import static io.mortise.testkit.ContractTimings.answered;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockInspection;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import java.lang.ref.WeakReference;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The use of a Redis in memory in a user's unit test, and each fault in one line. */
@ExtendWith(InMemoryRedisExtension.class)
@Timeout(30)
@SuppressWarnings("LockNotBeforeTry") // the tests are about the order of holds
class InMemoryRedisTest {
  private static final String NAME = "order:42";
  private static final Duration LONG = Duration.ofSeconds(20);

  @Test
  void locksOfTwoClientsExcludeEachOther(InMemoryRedis redis, LockClient client) {
    RedisLock lock = new RedisLock(client, NAME);
    lock.lock();
    assertFalse(new RedisLock(redis.client(), NAME).tryLock());
    lock.unlock();
    assertTrue(new RedisLock(redis.client(), NAME).tryLock());
  }

  @Test
  void aReleaseWakesAWaiterOfAnotherClient(InMemoryRedis redis, LockClient client)
      throws Exception {
    RedisLock lock = new RedisLock(client, NAME);
    Lease lease = lock.tryAcquire().orElseThrow();
    RedisLock other = new RedisLock(redis.client(), NAME);
    CompletableFuture<Optional<Lease>> waiter = other.acquireAsync(LONG).toCompletableFuture();
    await().atMost(LONG).until(() -> registered(redis) > 0);
    lease.close();
    waiter.get().orElseThrow().close();
  }

  private static long registered(InMemoryRedis redis) {
    return (Long) redis.command("ZCARD", "mortise_waiters:{" + NAME + "}");
  }

  @Test
  void aWaitForAnOccupiedLockTimesOut(InMemoryRedis redis, LockClient client) throws Exception {
    Lease others = redis.occupy(other -> other.lock(NAME));

    assertFalse(answered(() -> client.lock(NAME).tryLock(SHORT)));
    assertThrows(IllegalStateException.class, () -> redis.occupy(other -> other.lock(NAME)));

    others.close();
    assertTrue(client.lock(NAME).tryLock());
  }

  @Test
  void aLostHoldIsReportedAtOnce(InMemoryRedis redis, LockClient client) {
    Lease lease = new RedisLock(client, NAME).tryAcquire().orElseThrow();
    AtomicReference<LeaseLoss> loss = new AtomicReference<>();
    lease.onLost(loss::set);

    redis.loseHold(NAME);

    await().atMost(Duration.ofSeconds(5)).until(() -> loss.get() != null);
    assertEquals(LeaseLoss.Reason.MISSING, loss.get().reason());
  }

  @Test
  void aHoldThatIsNotThereCannotBeLost(InMemoryRedis redis) {
    assertThrows(IllegalStateException.class, () -> redis.loseHold("another:" + NAME));
  }

  /** As in the example: the test does not need the lease. */
  @Test
  void anOccupiedLockStaysHeldAlthoughTheTestDropsTheLease(InMemoryRedis redis) {
    WeakReference<Lease> dropped = new WeakReference<>(redis.occupy(other -> other.lock(NAME)));
    for (int i = 0; i < 5; i++) {
      System.gc();
    }

    assertNotNull(dropped.get());
  }

  @Test
  void aRestartWithoutDataLosesEveryHold(InMemoryRedis redis, LockClient client) {
    Lease lease = new RedisLock(client, NAME).tryAcquire().orElseThrow();
    redis.restartEmpty();
    await().atMost(Duration.ofSeconds(5)).until(() -> !lease.isValid());
    assertTrue(new RedisLock(client, NAME).tryAcquire().isPresent());
  }

  @Test
  void aLostReplyIsRepeatedAndLeavesNothing(InMemoryRedis redis, LockClient client) {
    RedisLock lock = new RedisLock(client, NAME);
    redis.loseNextReply(); // also when the script is not known yet
    lock.lock();
    redis.loseNextReply();
    lock.unlock();
    assertEquals(0L, redis.command("EXISTS", NAME));
    redis.loseNextRequest();
    lock.lock();
    lock.unlock();
    assertEquals(0L, redis.command("EXISTS", NAME));
  }

  /** A paused server runs all requests when it goes on, those of closed clients included. */
  @Test
  void aLateAttemptOfAClientThatHasGivenUpRuns(InMemoryRedis redis) {
    LockClient client =
        redis.client(LockOptions.builder().commandTimeout(Duration.ofSeconds(1)).build());
    RedisLock lock = new RedisLock(client, NAME);
    lock.lock();
    lock.unlock();
    lock.lock();
    redis.pause();
    assertThrows(LockException.class, lock::unlock);
    client.close(); // nobody is left who could repeat the release
    redis.resume();
    assertEquals(0L, redis.command("EXISTS", NAME));
  }

  @Test
  void aSearchInAListEndsAfterMaxlen(InMemoryRedis redis) {
    redis.command("RPUSH", "list", "a", "b", "c");
    assertEquals(1L, redis.command("LPOS", "list", "b"));
    assertEquals(1L, redis.command("LPOS", "list", "b", "MAXLEN", "2"));
    assertNull(redis.command("LPOS", "list", "c", "maxlen", "2"));
    assertEquals(2L, redis.command("LPOS", "list", "c", "MAXLEN", "0"), "all");
    for (String wrong : List.of("LPOS list a MAXLEN", "LPOS list a RANK 1")) {
      assertThrows(
          IllegalArgumentException.class, () -> redis.command(wrong.split(" ", -1)), wrong);
    }
  }

  @Test
  void anErrorIsReportedAsRedisSaysIt(InMemoryRedis redis, LockClient client) {
    RedisLock lock = new RedisLock(client, NAME);
    redis.failNext("OOM command not allowed when used memory > 'maxmemory'");
    LockException thrown = assertThrows(LockException.class, lock::tryLock);
    assertTrue(String.valueOf(thrown.getMessage()).contains("OOM"), thrown::getMessage);
  }

  @Test
  void aPausedServerAnswersNobodyUntilItGoesOn(InMemoryRedis redis) throws Exception {
    LockClient client =
        redis.client(LockOptions.builder().commandTimeout(Duration.ofMillis(100)).build());
    RedisLock lock = new RedisLock(client, NAME);
    redis.pause();
    assertThrows(LockException.class, lock::tryLock);
    redis.resume();
    assertTrue(lock.tryLock(LONG));
  }

  @Test
  void keysExpireByTheClockOfTheServer() {
    Clock stopped = Clock.fixed(Instant.EPOCH, ZoneOffset.UTC);
    try (InMemoryRedis redis = InMemoryRedis.start(stopped)) {
      keysExpire(redis);
    }
  }

  private static void keysExpire(InMemoryRedis redis) {
    redis.command("SET", "a", "1", "PX", "60000");
    redis.command("SET", "b", "1");
    redis.advance(Duration.ofSeconds(60));
    assertEquals(0L, redis.command("PTTL", "a"));
    redis.advance(Duration.ofMillis(1));
    assertNull(redis.command("GET", "a"));
    assertEquals("1", redis.command("GET", "b"));
  }

  @Test
  void theClockGoesForwardByPartsOfAMillisecondAndNotBack() {
    Clock stopped = Clock.fixed(Instant.EPOCH, ZoneOffset.UTC);
    try (InMemoryRedis redis = InMemoryRedis.start(stopped)) {
      redis.advance(Duration.ofNanos(1_500_000));
      redis.advance(Duration.ZERO);
      assertThrows(
          IllegalArgumentException.class, () -> redis.advance(Duration.ofMillis(1).negated()));

      assertEquals(List.of("0", "1500"), redis.command("TIME"));
    }
  }

  /** An inspection reads a hash with so many fields in parts. */
  @Test
  void aHashWithManyFieldsIsInspected(InMemoryRedis redis, LockClient client) {
    for (int i = 0; i < 1_002; i++) {
      redis.command("HSET", NAME, "9f8e7d6c-0000-4000-8000-000000000002:" + i, "1");
    }

    LockInspection found = new RedisLock(client, NAME).inspect();

    assertFalse(found.isComplete());
    assertEquals(1_000, found.holders().size());
  }

  @Test
  void anUnknownCommandIsAnError(InMemoryRedis redis) {
    IllegalArgumentException thrown =
        assertThrows(IllegalArgumentException.class, () -> redis.command("GEOADD", "a"));
    assertTrue(String.valueOf(thrown.getMessage()).startsWith("ERR unknown command"));
  }
}
