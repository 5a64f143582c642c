package io.mortise.it.rwlock;

import static io.mortise.it.rwlock.ReadWriteFixture.NO_HEARTBEAT;
import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.Names;
import io.mortise.it.support.ScriptLog;
import io.mortise.it.support.SharedRedis;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.FaultProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Three clients want one write lock: A holds it, the first waiter is behind a proxy, and the second
 * one is not. A release notifies the first alone. Lease and heartbeat last longer than the test, so
 * every waiter that enters came by a message.
 */
@Timeout(60)
@Tag("redis-version")
class NotifiedWriterTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final int ROUNDS = 100;

  /** The releasing client looks after 25 ms. */
  private static final long BEFORE_THE_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private static final Duration HOUR = Duration.ofHours(1);
  private static final LockOptions.Builder OPTIONS =
      LockOptions.builder().lease(Duration.ofMinutes(2));
  private static final String REDISSON = "aaaaaaaa-0000-4000-8000-aaaaaaaaaaaa:1";

  @RegisterExtension final LockFixture network = LockFixture.proxied(redis, OPTIONS).warm();

  private final String name = network.name();
  private final FaultProxy proxy = network.proxy();
  private final LockClient clientOfA = LockClient.create(redis.uri(), OPTIONS.build());
  private final LockClient clientOfSecond = LockClient.create(redis.uri(), OPTIONS.build());
  private final RedisReadWriteLock ofA = lock(clientOfA);
  private final DistributedLock first = lock(network.client()).writeLock();
  private final RedisReadWriteLock ofSecond = lock(clientOfSecond);
  private final DistributedLock second = ofSecond.writeLock();

  private RedisReadWriteLock lock(LockClient client) {
    return lock(client, name);
  }

  private static RedisReadWriteLock lock(LockClient client, String lock) {
    return new RedisReadWriteLock(client, lock, NO_HEARTBEAT);
  }

  @BeforeEach
  void warm() {
    SharedRedis.warm(clientOfA);
    SharedRedis.warm(clientOfSecond);
  }

  @AfterEach
  void nothingIsLeft() {
    clientOfA.close();
    clientOfSecond.close();
    for (String key : List.of("mortise_write_waiters:", "mortise_write_intent:")) {
      until(key + " is gone", () -> redis.command("EXISTS", key + "{" + name + "}").equals(0L));
    }
    redis.delete("mortise_forced_holds:{" + name + "}");
  }

  private long subscribers(String channel) {
    return (Long) ((List<?>) redis.command("PUBSUB", "NUMSUB", channel)).get(1);
  }

  private String channel() {
    return "redisson_rwlock:{" + name + "}";
  }

  @Test
  void aReleaseWakesOneWriterAndItsReleaseTheNext() throws Exception {
    boolean inTime = wakesOneWriter(name);
    for (int round = 2; !inTime && round <= ROUNDS; round++) {
      inTime = wakesOneWriter(Names.fresh());
    }
    assertTrue(inTime, "in no round the writer came before the releasing client looked");
  }

  /**
   * Returns whether the writer came before the releasing client looks whether it does. One that
   * comes later, because the machine stood still, is rightly passed over, with more scripts.
   */
  private boolean wakesOneWriter(String lock) throws Exception {
    DistributedLock ofFirst = lock(network.client(), lock).writeLock();
    Lease held = lock(clientOfA, lock).writeLock().tryAcquire().orElseThrow();
    AsyncCall<Lease> leaseOfFirst = redis.waiting(() -> ofFirst.acquire(HOUR).orElseThrow());
    AsyncCall<Void> cycleOfSecond =
        redis.waiting(AsyncCall.cycleOf(lock(clientOfSecond, lock).writeLock()));
    ScriptLog scripts = new ScriptLog(redis.server(), lock);
    long releasedNanos = System.nanoTime();
    held.close();
    Lease lease = leaseOfFirst.get();
    boolean inTime = System.nanoTime() - releasedNanos < BEFORE_THE_LOOK_NANOS;
    if (inTime) {
      String what = "the release, one attempt, and the look of the releasing client";
      until(what, () -> scripts.count() == 3);
      holdsFor(Duration.ofMillis(200), what, () -> scripts.count() == 3);
      assertFalse(cycleOfSecond.isDone());
    }
    lease.close();
    LockFixture.assertPrompt(cycleOfSecond);
    return inTime;
  }

  /** The first of two writers that wait does not hear how the hold ends. */
  private void assertTheFirstIsPassedOverAfter(Runnable end) throws Exception {
    AsyncCall<Void> cycleOfFirst = redis.waiting(AsyncCall.cycleOf(first));
    AsyncCall<Void> cycleOfSecond = redis.waiting(AsyncCall.cycleOf(second));
    network.suspend();
    end.run();
    LockFixture.assertPrompt(cycleOfSecond);
    proxy.restore();
    LockFixture.assertPrompt(cycleOfFirst);
  }

  @Test
  void aWriterThatDoesNotComeIsPassedOver() throws Exception {
    Lease held = ofA.writeLock().tryAcquire().orElseThrow();
    assertTheFirstIsPassedOverAfter(held::close);
  }

  @Test
  void aWriterThatDoesNotComeAfterTheLastReaderIsPassedOver() throws Exception {
    Lease held = ofA.readLock().tryAcquire().orElseThrow();
    assertTheFirstIsPassedOverAfter(held::close);
  }

  /** It waits for the intent, although the lock is free. */
  @Test
  void aReaderThatWaitsDoesNotEndTheLook() throws Exception {
    Lease held = ofA.writeLock().tryAcquire().orElseThrow();
    AsyncCall<Void> cycleOfFirst = redis.waiting(AsyncCall.cycleOf(first));
    AsyncCall<Void> cycleOfSecond = redis.waiting(AsyncCall.cycleOf(second));
    network.suspend();
    held.close();
    AsyncCall<Void> reader = AsyncCall.cycle(ofA.readLock());
    LockFixture.assertPrompt(cycleOfSecond);
    proxy.restore();
    LockFixture.assertPrompt(cycleOfFirst);
    LockFixture.assertPrompt(reader);
  }

  @Test
  void aWriterThatDoesNotComeAfterAForcedReleaseIsPassedOver() throws Exception {
    var unused = ofA.writeLock().tryAcquire().orElseThrow();
    assertTheFirstIsPassedOverAfter(() -> assertTrue(ofSecond.writeLock().forceUnlock()));
  }

  @Test
  void theLastReaderWakesOneWriterAndItsReleaseTheNext() throws Exception {
    Lease one = ofA.readLock().tryAcquire().orElseThrow();
    Lease other = ofSecond.readLock().tryAcquire().orElseThrow();
    AsyncCall<Void> cycleOfFirst = redis.waiting(AsyncCall.cycleOf(first));
    AsyncCall<Void> cycleOfSecond = redis.waiting(AsyncCall.cycleOf(second));
    one.close();
    holdsFor(Duration.ofMillis(100), "a reader holds", () -> !cycleOfFirst.isDone());
    other.close();
    LockFixture.assertPrompt(cycleOfFirst);
    LockFixture.assertPrompt(cycleOfSecond);
  }

  @Test
  void writersFollowTheReadersThatHadTheirTurn() throws Exception {
    Lease held = ofA.writeLock().tryAcquire().orElseThrow();
    AsyncCall<Void> writer = redis.waiting(AsyncCall.cycleOf(first));
    AsyncCall<Lease> reader = redis.waiting(() -> ofSecond.readLock().acquire(HOUR).orElseThrow());
    held.close();
    Lease read = reader.get();
    holdsFor(Duration.ofMillis(100), "the reader holds", () -> !writer.isDone());
    read.close();
    LockFixture.assertPrompt(writer);
  }

  /** No reader comes in between, although only the first writer had shown its intent. */
  @Test
  void newReadersWaitForAllWritersThatWait() throws Exception {
    Lease held = ofA.readLock().tryAcquire().orElseThrow();
    AsyncCall<Boolean> bounded = redis.waiting(() -> first.tryLock(1, TimeUnit.HOURS));
    AsyncCall<Void> cycleOfSecond = redis.waiting(AsyncCall.cycleOf(second));
    bounded.interrupt();
    until("it has ended", bounded::isDone);
    until(
        "the second has asked again",
        () -> redis.command("EXISTS", "mortise_write_intent:{" + name + "}").equals(1L));
    assertFalse(lock(network.client()).readLock().tryLock(), "the second writer waits");
    held.close();
    LockFixture.assertPrompt(cycleOfSecond);
    assertTrue(lock(network.client()).readLock().tryLock());
    lock(network.client()).readLock().unlock();
  }

  @Test
  void aWriterHearsTheReleaseOfAReaderOfRedisson() throws Exception {
    redis.command("HSET", name, "mode", "read", REDISSON, "1");
    String leaseKey = "{" + name + "}:" + REDISSON + ":rwlock_timeout:1";
    redis.command("SET", leaseKey, "1");
    AsyncCall<Void> writer = redis.waiting(AsyncCall.cycleOf(first));
    assertEquals(1, subscribers(channel()));
    redis.delete(name);
    redis.delete(leaseKey);
    redis.command("PUBLISH", channel(), "0");
    LockFixture.assertPrompt(writer);
  }

  /** Its channel is that of its client, until our reader leaves Redisson's behind. */
  @Test
  void aWriterTurnsToTheChannelOfTheLockWhenOnlyRedissonReads() throws Exception {
    Lease ours = ofA.readLock().tryAcquire().orElseThrow();
    AsyncCall<Void> writer = redis.waiting(AsyncCall.cycleOf(first));
    assertEquals(0, subscribers(channel()));
    String leaseKey = "{" + name + "}:" + REDISSON + ":rwlock_timeout:1";
    redis.command("SET", leaseKey, "1");
    redis.command("HSET", name, REDISSON, "1");
    ours.close();
    until("it listens to the channel of the lock", () -> subscribers(channel()) == 1);
    redis.delete(name);
    redis.delete(leaseKey);
    redis.command("PUBLISH", channel(), "0");
    LockFixture.assertPrompt(writer);
  }

  /** Redis has removed the hold of Redisson, and nobody publishes. */
  @Test
  void aWriterThatTurnedToTheChannelOfTheLockHasAHeartbeat() throws Exception {
    Duration timeout = Duration.ofSeconds(4);
    DistributedLock lock = new RedisReadWriteLock(network.client(), name, timeout).writeLock();
    Lease ours = ofA.readLock().tryAcquire().orElseThrow();
    AsyncCall<Void> writer = redis.waiting(AsyncCall.cycleOf(lock));
    String leaseKey = "{" + name + "}:" + REDISSON + ":rwlock_timeout:1";
    redis.command("SET", leaseKey, "1");
    redis.command("HSET", name, REDISSON, "1");
    redis.resetStats();
    ours.close();
    String what = "the release, the look after it, and attempts before and after the subscription";
    until(what, () -> redis.calls("evalsha") >= 4);
    writer.awaitParked();
    assertEquals(1, subscribers(channel()));
    redis.delete(name);
    redis.delete(leaseKey);
    until("a heartbeat has told it", writer::isDone);
    writer.get();
  }

  @Test
  void theCloseOfAClientLeavesNoRegistration() throws Exception {
    Lease held = ofA.writeLock().tryAcquire().orElseThrow();
    AsyncCall<Void> waiter = redis.waiting(AsyncCall.cycleOf(second));
    clientOfSecond.close();
    until("it has ended", waiter::isDone);
    String waiters = "mortise_write_waiters:{" + name + "}";
    until("it is not registered", () -> redis.command("EXISTS", waiters).equals(0L));
    held.close();
  }
}
