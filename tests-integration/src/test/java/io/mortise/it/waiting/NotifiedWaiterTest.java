package io.mortise.it.waiting;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.Names;
import io.mortise.it.support.ScriptLog;
import io.mortise.it.support.ScriptServer;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Three clients want one lock: A holds it, the first waiter is behind a proxy, and the second one
 * is not. A release notifies the first alone. The lease lasts a minute, and a waiter looks by
 * itself after 5 s: what is prompt came by a message.
 */
@Timeout(60)
@Tag("redis-version")
class NotifiedWaiterTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  /** The longest time between two attempts of a waiter that is not notified. */
  private static final long LOOK_MILLIS = 5_000;

  private static final int ROUNDS = 100;

  /** The releasing client looks after 25 ms. */
  private static final long BEFORE_THE_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private static final Duration HOUR = Duration.ofHours(1);
  private static final LockOptions.Builder OPTIONS =
      LockOptions.builder().lease(Duration.ofMinutes(1));

  @RegisterExtension final LockFixture first = LockFixture.proxied(redis, OPTIONS).warm();

  private final String name = first.name();
  private final String waiters = "mortise_waiters:{" + name + "}";
  private final FaultProxy proxy = first.proxy();
  private final LockClient clientOfA = LockClient.create(redis.uri(), OPTIONS.build());
  private final LockClient clientOfSecond = LockClient.create(redis.uri(), OPTIONS.build());
  private final RedisLock second = new RedisLock(clientOfSecond, name);
  private Lease held;
  private long secondSinceNanos;

  @BeforeEach
  void hold() {
    SharedRedis.warm(clientOfSecond);
    held = new RedisLock(clientOfA, name).tryAcquire().orElseThrow();
  }

  @AfterEach
  void nothingIsLeft() {
    clientOfA.close();
    clientOfSecond.close();
    until("nobody is registered", () -> registered() == 0);
  }

  private long registered() {
    return (Long) redis.command("ZCARD", waiters);
  }

  private AsyncCall<Void> firstWaits() {
    AsyncCall<Void> cycle = redis.waiting(AsyncCall.cycleOf(first.lock()));
    until("it is registered, before the second", () -> registered() == 1);
    return cycle;
  }

  private AsyncCall<Void> secondWaits() {
    secondSinceNanos = System.nanoTime();
    return redis.waiting(AsyncCall.cycleOf(second));
  }

  /** The second waiter has the lock before it looks by itself, so it was notified. */
  private void assertNotified(AsyncCall<Void> cycleOfSecond) throws Exception {
    cycleOfSecond.get();
    long took = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - secondSinceNanos);
    assertTrue(took < LOOK_MILLIS, () -> "it took " + took + " ms");
  }

  @Test
  void aReleaseWakesTheFirstAloneAndItsReleaseTheSecond() throws Exception {
    boolean inTime = wakesTheFirstAlone(name, held);
    for (int round = 2; !inTime && round <= ROUNDS; round++) {
      String another = Names.fresh();
      inTime =
          wakesTheFirstAlone(another, new RedisLock(clientOfA, another).tryAcquire().orElseThrow());
    }
    assertTrue(inTime, "in no round the first came before the releasing client looked");
  }

  /**
   * Returns whether the first came before the releasing client looks whether it does. One that
   * comes later, because the machine stood still, is rightly passed over, with more scripts.
   */
  private boolean wakesTheFirstAlone(String lock, Lease held) throws Exception {
    RedisLock ofFirst = new RedisLock(first.client(), lock);
    AsyncCall<Lease> leaseOfFirst = redis.waiting(() -> ofFirst.acquire(HOUR).orElseThrow());
    secondSinceNanos = System.nanoTime();
    AsyncCall<Void> cycleOfSecond =
        redis.waiting(AsyncCall.cycleOf(new RedisLock(clientOfSecond, lock)));
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
    assertNotified(cycleOfSecond);
    return inTime;
  }

  @Test
  void aWaiterThatDoesNotComeIsPassedOver() throws Exception {
    AsyncCall<Void> cycleOfFirst = firstWaits();
    AsyncCall<Void> cycleOfSecond = secondWaits();
    first.suspend();
    held.close();
    assertNotified(cycleOfSecond);
    proxy.restore();
    LockFixture.assertPrompt(cycleOfFirst);
  }

  /** The lock is hardly ever free, so nobody ever looks: each release notifies the next one. */
  @Test
  void aWaiterThatDoesNotComeBlocksNobodyWhileOthersBarge() throws Exception {
    redis.command("ZADD", waiters, "0", "aaaaaaaa-0000-8000-8000-aaaaaaaaaaaa:1-2-3");
    RedisLock busy = new RedisLock(clientOfA, name);
    held.close();
    AtomicBoolean stop = new AtomicBoolean();
    AsyncCall<Void> barging =
        AsyncCall.run(
            () -> {
              while (!stop.get()) {
                busy.lock();
                try {
                  TimeUnit.MILLISECONDS.sleep(10); // the work under the lock
                } finally {
                  busy.unlock();
                }
              }
            });
    try {
      LockFixture.assertPrompt(AsyncCall.cycle(second));
      LockFixture.assertPrompt(AsyncCall.cycle(second));
    } finally {
      stop.set(true);
      barging.get();
      redis.delete(waiters);
    }
  }

  @Test
  void waitersLookByThemselvesWhenTheReleasingClientDiesToo() throws Exception {
    AsyncCall<Void> cycleOfFirst = firstWaits();
    AsyncCall<Void> cycleOfSecond = secondWaits();
    first.suspend();
    held.close();
    clientOfA.close();
    cycleOfSecond.get(); // within the limit of the test, and the lease is a minute
    proxy.restore();
    cycleOfFirst.get();
  }

  @Test
  void aWaiterThatGivesUpAfterItWasNotifiedLetsTheNextIn() throws Exception {
    String other = "aaaaaaaa-0000-8000-8000-aaaaaaaaaaaa:1-2-3";
    redis.command("ZADD", waiters, "0", other);
    AsyncCall<Void> cycleOfSecond = secondWaits();
    held.close();
    clientOfA.close(); // nobody looks
    holdsFor(Duration.ofMillis(100), "the other was notified", () -> !cycleOfSecond.isDone());

    List<String> keys =
        List.of(name, SharedRedis.channel(name), "mortise_forced:{" + name + "}", waiters);
    ScriptServer.run(redis.server(), "lock/release", keys, other, "PUBLISH");

    assertNotified(cycleOfSecond);
  }

  @Test
  void aWaiterThatIsInterruptedIsNotRegisteredAnyMore() throws Exception {
    AsyncCall<Boolean> interrupted = redis.waiting(() -> first.lock().tryLock(1, TimeUnit.HOURS));
    interrupted.interrupt();
    until("it has ended", interrupted::isDone);
    assertEquals(0, registered());
    held.close();
  }

  @Test
  void theCloseOfAClientLeavesNoRegistration() throws Exception {
    AsyncCall<Void> waiter = redis.waiting(AsyncCall.cycleOf(second));
    clientOfSecond.close();
    until("it has ended", waiter::isDone);
    until("it is not registered", () -> registered() == 0);
    held.close();
  }

  @Test
  void waitersThatRedisHasForgottenLookByThemselves() throws Exception {
    AsyncCall<Void> cycleOfFirst = firstWaits();
    redis.delete(waiters);
    held.close();
    cycleOfFirst.get();
  }

  @Test
  void aForcedReleaseWakesTheFirst() throws Exception {
    AsyncCall<Void> cycleOfFirst = firstWaits();
    assertTrue(second.forceUnlock());
    LockFixture.assertPrompt(cycleOfFirst);
    redis.delete("mortise_forced:{" + name + "}");
  }

  @Test
  void aWaiterThatDoesNotComeAfterAForcedReleaseIsPassedOver() throws Exception {
    AsyncCall<Void> cycleOfFirst = firstWaits();
    AsyncCall<Void> cycleOfSecond = secondWaits();
    first.suspend();
    assertTrue(new RedisLock(clientOfA, name).forceUnlock());
    assertNotified(cycleOfSecond);
    proxy.restore();
    LockFixture.assertPrompt(cycleOfFirst);
    redis.delete("mortise_forced:{" + name + "}");
  }

  /** Redisson's release notifies the channel of the lock only. */
  @Test
  void whenAStrangerComesFirstTheNotifiedOneHearsItsRelease() throws Exception {
    AsyncCall<Void> cycleOfFirst = firstWaits();
    AsyncCall<Void> cycleOfSecond = secondWaits();
    letAStrangerIn();
    redis.releaseAsStranger(name);
    LockFixture.assertPrompt(cycleOfFirst);
    assertNotified(cycleOfSecond);
  }

  @Test
  void whenTheOneThatHearsTheStrangerGivesUpTheNextHearsIt() throws Exception {
    AsyncCall<Boolean> bounded = redis.waiting(() -> first.lock().tryLock(1, TimeUnit.HOURS));
    AsyncCall<Void> cycleOfSecond = secondWaits();
    letAStrangerIn();
    bounded.interrupt();
    until("it has ended", bounded::isDone);
    until("the second listens too", () -> subscribersOfLockChannel() == 2); // the first lingers
    redis.releaseAsStranger(name);
    assertNotified(cycleOfSecond);
  }

  /** A stranger takes the lock between the release of A and the attempt of the first waiter. */
  private void letAStrangerIn() {
    first.suspend();
    clientOfA.close(); // releases the lock, and does not look whether somebody came
    redis.holdAsStranger(name, HOUR.toMillis());
    proxy.restore();
    until("the first listens to the channel", () -> subscribersOfLockChannel() == 1);
    until("only the waiters are registered", () -> registered() <= 2);
  }

  private long subscribersOfLockChannel() {
    String channel = SharedRedis.channel(name);
    return (Long) ((List<?>) redis.command("PUBSUB", "NUMSUB", channel)).get(1);
  }

  @Test
  void theRestOfAMinimumIsWaitedForWithoutAMessage() throws Exception {
    held.close();
    Lease minimal =
        new RedisLock(clientOfA, name).atLeast(Duration.ofSeconds(1)).tryAcquire().orElseThrow();
    AsyncCall<Void> cycleOfFirst = firstWaits();
    AsyncCall<Void> cycleOfSecond = secondWaits();
    minimal.close();
    LockFixture.assertPrompt(cycleOfFirst);
    assertNotified(cycleOfSecond);
  }
}
