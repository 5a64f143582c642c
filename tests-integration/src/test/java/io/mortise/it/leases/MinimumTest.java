package io.mortise.it.leases;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.calling;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.ClientResources;
import io.mortise.it.support.Elapsed;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.LoggedWarnings;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.LossStyle;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A hold with a minimum: its release, with and without a network, and what it leaves. */
@Timeout(60)
class MinimumTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  /** A minimum that ends long after the test. */
  private static final Duration LONG = Duration.ofMinutes(5);

  /** A minimum that a test waits for, with repetitions of the release in between. */
  private static final Duration SECONDS = Duration.ofSeconds(6);

  @RegisterExtension
  final LockFixture tested = LockFixture.proxied(redis, options(Duration.ofMinutes(1))).warm();

  private final String name = tested.name();
  private final FaultProxy proxy = tested.proxy();
  private final RedisLock lock = tested.lock();
  private final RedisLock lockOfOther = tested.lockOfOther();

  private static LockOptions.Builder options(Duration lease) {
    return LockOptions.builder().lease(lease).commandTimeout(Duration.ofMillis(1_500));
  }

  @BeforeAll
  static void noteWarnings() {
    LoggedWarnings.note();
  }

  private void assertKeptFor(Duration time) {
    long left = redis.ttlMillis(name);
    assertTrue(left <= time.toMillis(), () -> left + " ms left");
    assertTrue(left > time.toMillis() - 20_000, () -> left + " ms left");
    assertTrue(((String) redis.holders(name).get(0)).endsWith(":kept"));
  }

  @Test
  void theClientKeepsNothingOfAReleasedHold() {
    lock.atLeast(LONG).lock();
    assertEquals(1, tested.client().status().holds());

    lock.unlock();

    assertEquals(0, tested.client().status().holds());
    ClientResources.awaitNone(tested.client());
    assertKeptFor(LONG);
    redis.delete(name);
  }

  @Test
  void aClientThatClosesLeavesTheRest() {
    lock.atLeast(LONG).lock();

    tested.client().close();

    assertKeptFor(LONG);
    assertFalse(lockOfOther.tryLock());
    redis.delete(name);
  }

  @Test
  void aHoldIsNotHandedOffBeforeItsMinimum() throws Exception {
    lock.lock();
    AsyncCall<Void> first = AsyncCall.cycle(lockWithMinimum(Duration.ofSeconds(1)));
    first.awaitQueued();
    AsyncCall<Long> second =
        AsyncCall.start(
            () -> {
              lock.lock();
              lock.unlock();
              return System.nanoTime();
            });
    second.awaitQueued();
    long released = System.nanoTime();
    lock.unlock();

    long millis = (second.get() - released) / 1_000_000;

    first.get();
    assertTrue(millis >= 1_000, () -> "the second had it after " + millis + " ms");
  }

  private DistributedLock lockWithMinimum(Duration minimum) {
    return lock.atLeast(minimum);
  }

  // ---- lost replies

  @Test
  void aReleaseWhoseConnectionBreaksIsRepeatedAtOnce() {
    lock.atLeast(LONG).lock();
    proxy.loseNextReply(LossStyle.CLOSE, calling("lock/keep"));

    lock.unlock();

    assertEquals(1, proxy.repliesLost());
    assertKeptFor(LONG);
    redis.delete(name);
  }

  @Test
  void aReleaseWithoutAReplyKeepsTheMinimumAndNoMore() throws Exception {
    long start = System.nanoTime();
    lock.atLeast(SECONDS).lock();
    proxy.loseReplies(2, LossStyle.SILENT, calling("lock/keep"));

    assertThrows(LockException.class, lock::unlock);

    assertFalse(lock.isHeldByCurrentThread());
    until("no release is pending", () -> tested.client().status().pendingReleases() == 0);
    assertTrue(lockOfOther.tryLock(Duration.ofSeconds(20)));
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(millis >= SECONDS.toMillis(), () -> "free after " + millis + " ms");
    assertTrue(millis < 20_000, () -> "free after " + millis + " ms, and the lease is a minute");
    holdsFor(
        Duration.ofMillis(300), "the next holder keeps it", lockOfOther::isHeldByCurrentThread);
    lockOfOther.unlock();
  }

  @Test
  void aReleaseThatNeverArrivedIsRepeatedForTheRest() {
    lock.atLeast(LONG).lock();
    proxy.cut();
    assertThrows(LockException.class, lock::unlock);

    proxy.restore();

    until("no release is pending", () -> tested.client().status().pendingReleases() == 0);
    assertKeptFor(LONG);
    redis.delete(name);
  }

  @Test
  void aReleaseThatArrivesAfterTheMinimumFreesTheLock() throws Exception {
    lock.atLeast(Duration.ofMillis(500)).lock();
    proxy.cut();
    long millis = Elapsed.millisOf(() -> assertThrows(LockException.class, lock::unlock));
    holdsFor(Duration.ofMillis(Math.max(1, 600 - millis)), "held", () -> redis.exists(name));

    proxy.restore();

    until("the repetition arrived", () -> !redis.exists(name));
  }

  @ParameterizedTest
  @EnumSource
  void anAttemptThatIsRepeatedDoesNotShortenTheMinimum(LossStyle style) throws Exception {
    proxy.loseNextReply(style, calling("lock/acquire"));
    assertTrue(lock.atLeast(LONG).tryLock(Duration.ofSeconds(10)));

    lock.unlock(); // with a silent loss, an attempt may still arrive: releases are repeated

    holdsFor(Duration.ofSeconds(1), "kept", () -> redis.exists(name));
    assertKeptFor(LONG);
    redis.delete(name);
  }

  // ---- a lease that is meant to run out

  @Test
  void aLeaseThatIsMeantToRunOutIsNotLogged() throws Exception {
    Duration lease = Duration.ofSeconds(3); // not over before it is released
    Lease held = lock.withLease(lease).atLeast(lease).acquire();
    held.close(); // at once: the work needs no lock object

    assertFalse(lockOfOther.tryLock());
    assertTrue(lockOfOther.tryLock(Duration.ofSeconds(20)));
    lockOfOther.unlock();

    assertEquals(State.RELEASED, held.state());
    assertTrue(held.loss().isEmpty());
    assertEquals(List.of(), LoggedWarnings.about(name));
  }

  @Test
  void aLeaseThatRunsOutUnderItsHolderIsLoggedWithWhatToDo() {
    Duration lease = Duration.ofMillis(300);
    lock.withLease(lease).atLeast(lease).lock();
    Lease held = lock.lease();

    until("it runs out", () -> !held.isValid());

    LeaseLostException lost = assertThrows(LeaseLostException.class, lock::unlock);
    String detail = lost.loss().detail();
    assertTrue(detail.contains("give a longer one"), detail);
    assertTrue(detail.contains("atLeast"), detail);
    until("it is logged", () -> LoggedWarnings.about(name).size() == 1);
  }
}
