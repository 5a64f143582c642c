package io.mortise.it.connections;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.calling;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Elapsed;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import io.mortise.scripts.Script;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The server has executed a command, and its reply does not arrive. */
@Timeout(60)
class LostRepliesTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @RegisterExtension
  final LockFixture tested = LockFixture.proxied(redis, options(Duration.ofMinutes(1))).warm();

  private final String name = tested.name();
  private final FaultProxy proxy = tested.proxy();
  private final RedisLock lock = tested.lock();
  private final RedisLock lockOfOther = tested.lockOfOther();

  private static LockOptions.Builder options(Duration lease) {
    return LockOptions.builder().lease(lease).commandTimeout(Duration.ofMillis(1_500));
  }

  @ParameterizedTest
  @EnumSource
  void anAcquisitionWhoseReplyIsLostIsRepeatedAndCountsOnce(LossStyle style) throws Exception {
    proxy.loseNextReply(style, calling("lock/acquire"));

    assertTrue(lock.tryLock(Duration.ofSeconds(10)));

    assertEquals(1, proxy.repliesLost());
    assertEquals(1, lock.holdCount());
    assertEquals(1, redis.holders(name).size());
    assertEquals(List.of("1"), redis.command("HVALS", name));
    lock.unlock();
    assertFalse(redis.exists(name), "one release is enough");
    assertTrue(lockOfOther.tryLock(), "another client can acquire it");
    holdsFor(Duration.ofMillis(300), "it is held", lockOfOther::isHeldByCurrentThread);
    lockOfOther.unlock();
  }

  @Test
  void anAcquisitionThatEndedWithoutAReplyIsReleasedLongBeforeTheTtl() throws Exception {
    proxy.loseReplies(10, LossStyle.SILENT, calling("lock/acquire"));

    LockException thrown =
        assertThrows(LockException.class, () -> lock.tryLock(Duration.ofMillis(200)));

    assertEquals(Reason.UNREACHABLE, thrown.reason());
    assertTrue(proxy.repliesLost() >= 1);
    long waited = Elapsed.millisOf(() -> lockOfOther.tryLock(Duration.ofSeconds(20)));
    assertTrue(lockOfOther.isHeldByCurrentThread());
    assertTrue(waited < 5_000, () -> "it took " + waited + " ms, and the lease is a minute");
    lockOfOther.unlock();
  }

  @Test
  void anAttemptThatArrivesAfterTheReleaseIsReleasedToo() throws Exception {
    RedisLock patient =
        tested.use(options(Duration.ofMinutes(1)).commandTimeout(Duration.ofSeconds(2)));
    proxy.loseNextReply(LossStyle.SILENT, calling("lock/acquire"));
    assertTrue(patient.tryLock(Duration.ofSeconds(10)));
    String holder = (String) redis.holders(name).get(0);
    redis.resetStats();
    patient.unlock();
    until("a release has found nothing", () -> redis.calls("evalsha") >= 2);

    acquireLate(holder);

    until("the late duplicate is released", () -> !redis.exists(name));
  }

  @Test
  void eachOfSeveralAttemptsThatArriveAfterTheReleaseIsReleasedToo() throws Exception {
    RedisLock hasty =
        tested.use(options(Duration.ofMinutes(1)).commandTimeout(Duration.ofMillis(400)));
    proxy.loseReplies(Integer.MAX_VALUE, LossStyle.SILENT, calling("lock/acquire"));
    // So long that there are several attempts although the machine stands still meanwhile.
    AsyncCall<Boolean> caller = AsyncCall.start(() -> hasty.tryLock(Duration.ofSeconds(3)));
    until("Redis has granted the lock", () -> redis.exists(name));
    String holder = (String) redis.holders(name).get(0);
    assertThrows(LockException.class, caller::get);
    assertTrue(proxy.repliesLost() >= 2, "several attempts");
    until("it was released in the background", () -> !redis.exists(name));

    acquireLate(holder);

    until("the late duplicate is released", () -> !redis.exists(name));
  }

  /** Delivers an attempt that its client has given up. */
  private void acquireLate(String holder) {
    String sha1 = new String(Script.load("lock/acquire").sha1(), UTF_8);
    String tokenKey = "redisson_lock_token:{" + name + "}";
    List<?> reply =
        (List<?>)
            redis.command("EVALSHA", sha1, "2", name, tokenKey, holder, "60000", "600000", "1");
    assertEquals(1L, reply.get(0), "Redis grants it");
  }

  @Test
  void aReleaseWhoseConnectionBreaksIsRepeatedAtOnce() {
    lock.lock();
    proxy.loseNextReply(LossStyle.CLOSE, calling("lock/release"));

    lock.unlock();

    assertEquals(1, proxy.repliesLost());
    assertFalse(redis.exists(name));
    IllegalMonitorStateException thrown =
        assertThrows(IllegalMonitorStateException.class, lock::unlock);
    assertTrue(thrown.getMessage().contains("released it already"), thrown.getMessage());
  }

  @Test
  void aReleaseWithoutAReplyThrowsAndItsRepetitionsAffectNoLaterHold() throws Exception {
    RedisLock lock = tested.use(options(Duration.ofSeconds(3)));
    lock.lock();
    proxy.loseReplies(2, LossStyle.SILENT, calling("lock/release"));

    LockException thrown = assertThrows(LockException.class, lock::unlock);

    assertEquals(Reason.UNREACHABLE, thrown.reason());
    assertTrue(thrown.getMessage().contains(name), thrown.getMessage());
    assertTrue(thrown.getMessage().contains("repeated in the background"), thrown.getMessage());
    assertFalse(lock.isHeldByCurrentThread());
    assertTrue(lock.tryLock(), "the same client can acquire it again");
    Lease lease = lock.lease();
    holdsFor(
        Duration.ofMillis(500),
        "it is held during the repetitions",
        () -> redis.exists(name) && lease.isValid());
    awaitNoPendingRelease();
    assertTrue(lease.isValid() && redis.exists(name));
    lock.unlock();
    assertFalse(redis.exists(name));
  }

  @Test
  void aReleaseThatNeverArrivedIsRepeatedUntilItDoes() throws Exception {
    lock.lock();
    proxy.cut();
    assertThrows(LockException.class, lock::unlock);
    assertTrue(redis.exists(name));

    proxy.restore();

    until("the repetition arrived", () -> !redis.exists(name));
    awaitNoPendingRelease();
  }

  private void awaitNoPendingRelease() {
    until("no release is pending", () -> tested.client().status().pendingReleases() == 0);
  }

  private static void untilWhileValid(Lease lease, String what, Callable<Boolean> condition) {
    until(
        what,
        () -> {
          assertTrue(lease.isValid());
          return condition.call();
        });
  }

  @ParameterizedTest
  @EnumSource
  void aRenewalWithoutAReplyIsRepeatedAndTheHoldIsKept(LossStyle style) {
    RedisLock lock = tested.use(options(Duration.ofSeconds(6)));
    lock.lock();
    Lease lease = lock.lease();
    proxy.loseNextReply(style, calling("lock/renew"));

    untilWhileValid(lease, "the reply is lost", () -> proxy.repliesLost() == 1);
    untilWhileValid(lease, "it is renewed", () -> lease.remaining().toMillis() > 5_000);

    assertEquals(1, proxy.repliesLost());
    assertEquals(Lease.State.HELD, lease.state());
    assertTrue(redis.exists(name));
    lock.unlock();
    assertFalse(redis.exists(name));
  }

  @ParameterizedTest
  @EnumSource
  void aForcedReleaseWhoseReplyIsLostIsNotRepeatedAndTheNextHolderKeepsTheLock(LossStyle style)
      throws Exception {
    assertFalse(lock.forceUnlock()); // the server knows the script: the lost reply is that of a run
    redis.holdAsStranger(name, 60_000);
    proxy.loseReplies(2, style, calling("lock/force"));
    AsyncCall<Boolean> next = AsyncCall.start(() -> lockOfOther.tryLock(Duration.ofSeconds(20)));
    redis.awaitSubscriber(name);

    LockException thrown = assertThrows(LockException.class, lock::forceUnlock);

    assertEquals(Reason.UNREACHABLE, thrown.reason());
    assertTrue(thrown.getMessage().contains(name), thrown.getMessage());
    assertTrue(thrown.getMessage().contains("it is not known"), thrown.getMessage());
    assertEquals(1, proxy.repliesLost(), "it was sent once");
    assertTrue(next.get(), "the stranger has lost it");
    holdsFor(Duration.ofMillis(500), "the next holder has it", () -> redis.exists(name));
    redis.delete(name);
  }

  @Test
  void aForcedReleaseOnABrokenConnectionIsRepeated() {
    redis.holdAsStranger(name, 60_000);
    proxy.closeConnections();

    assertTrue(lock.forceUnlock());

    assertFalse(redis.exists(name));
  }
}
