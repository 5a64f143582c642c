package io.mortise.it.leases;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A loss is notified to its holder, once, with its reason. */
@Timeout(60)
class LeaseLossTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  /** A hold that cannot be renewed is at risk for seconds, so that a busy machine sees it. */
  private static final Duration LEASE = Duration.ofSeconds(4);

  private static final Duration HOUR = Duration.ofHours(1);

  @RegisterExtension
  final LockFixture tested = LockFixture.proxied(redis, LockOptions.builder().lease(LEASE)).warm();

  private final String name = tested.name();
  private final RedisLock lock = tested.lock();

  @Test
  void aHoldIsLostAtTheLocalDeadlineWhenRedisCannotBeReached() throws Exception {
    List<State> states = new CopyOnWriteArrayList<>();
    CountDownLatch notified = new CountDownLatch(1);
    lock.lock();
    Lease lease = lock.lease();
    lease.onStateChange(states::add);
    lease.onLost(loss -> notified.countDown());
    tested.proxy().cut();
    long start = System.nanoTime(); // no later renewal succeeds

    until("it is at risk first", () -> lease.state() == State.AT_RISK);
    assertTrue(lease.isValid() && lock.isHeldByCurrentThread());
    until("then lost", () -> lease.state() == State.LOST);

    long lostMillis = (lease.loss().orElseThrow().atNanos() - start) / 1_000_000;
    assertTrue(lostMillis <= LEASE.toMillis(), () -> "lost after " + lostMillis + " ms");
    assertTrue(notified.await(20, TimeUnit.SECONDS));
    assertEquals(List.of(State.AT_RISK, State.LOST), states);
    assertEquals(Reason.EXPIRED, lease.loss().orElseThrow().reason());
    assertEquals(Duration.ZERO, lease.remaining());
    assertThrows(LeaseLostException.class, lease::ensureValid);
    assertThrows(LeaseLostException.class, lock::lock, "re-entry into a lost hold");
    assertFalse(lock.isHeldByCurrentThread());
    assertEquals(0, lock.holdCount());
    assertThrows(LeaseLostException.class, lock::unlock);
  }

  @Test
  void aHoldThatRedisHasLostIsLostAtTheNextRenewal() throws Exception {
    lock.lock();
    Lease lease = lock.lease();
    CountDownLatch notified = new CountDownLatch(1);
    lease.onLost(loss -> notified.countDown());

    redis.command("FLUSHALL");

    until("the loss is seen", () -> lease.state() == State.LOST);
    assertEquals(Reason.MISSING, lease.loss().orElseThrow().reason());
    assertTrue(notified.await(20, TimeUnit.SECONDS));
    LeaseLostException thrown = assertThrows(LeaseLostException.class, lock::unlock);
    assertTrue(thrown.getMessage().contains("does not know this hold"), thrown.getMessage());
    assertTrue(lock.tryLock(), "it can be acquired again");
    lock.unlock();
  }

  @Test
  void aHoldIsLostAtTheNextRenewalAfterTheServerRestartedEmpty() {
    lock.lock();
    Lease lease = lock.lease();
    redis.server().restartEmpty();
    until("the loss is seen", () -> lease.state() == State.LOST);
    assertEquals(Reason.MISSING, lease.loss().orElseThrow().reason());
    assertThrows(LeaseLostException.class, lock::unlock);
  }

  @Test
  void aForcedReleaseIsNoticedAtTheNextRenewalAndTheNextHolderKeepsTheLock() {
    lock.lock();
    Lease lease = lock.lease();
    RedisLock lockOfOther = tested.lockOfOther();
    assertTrue(lockOfOther.forceUnlock());
    assertTrue(lockOfOther.tryLock());

    until("the loss is seen", () -> lease.state() == State.LOST);

    assertEquals(Reason.FORCED, lease.loss().orElseThrow().reason());
    LeaseLostException thrown = assertThrows(LeaseLostException.class, lock::unlock);
    assertTrue(thrown.getMessage().contains("by force"), thrown.getMessage());
    assertTrue(lockOfOther.lease().fencingToken() > lease.fencingToken());
    holdsFor(Duration.ofMillis(300), "the next holder has it", () -> redis.exists(name));
    lockOfOther.unlock();
  }

  @Test
  void aForcedReleaseIsNoticedAtTheUnlockToo() {
    lock.withLease(HOUR).lock();
    assertTrue(tested.lockOfOther().forceUnlock());
    LeaseLostException thrown = assertThrows(LeaseLostException.class, lock::unlock);
    assertEquals(Reason.FORCED, thrown.loss().reason());
  }

  /** A late attempt of the same acquisition has found the lock held by another. */
  @Test
  void anUnlockThatFindsOnlyItsRegistrationIsTheLossOfTheHold() {
    lock.withLease(HOUR).lock();
    Object holder = ((List<?>) redis.command("HKEYS", name)).get(0);
    redis.command("DEL", name);
    redis.command("ZADD", "mortise_waiters:{" + name + "}", "0", holder.toString());
    LeaseLostException thrown = assertThrows(LeaseLostException.class, lock::unlock);
    assertEquals(Reason.MISSING, thrown.loss().reason());
    assertFalse(redis.exists("mortise_waiters:{" + name + "}"));
  }

  @Test
  void anUnlockThatIsTooLateSaysHowLateAndWhatToDo() {
    lock.withLease(Duration.ofMillis(100)).lock();
    Lease lease = lock.lease();
    until("it is long over", () -> lease.loss().map(l -> l.age().toMillis() > 250).orElse(false));

    LeaseLostException thrown = assertThrows(LeaseLostException.class, lock::unlock);

    assertEquals(Reason.EXPIRED, thrown.loss().reason());
    String message = thrown.getMessage();
    Matcher age = Pattern.compile("lost (\\d+) ms ago").matcher(message);
    assertTrue(age.find(), message);
    long said = Long.parseLong(age.group(1));
    assertTrue(said >= 250 && said <= thrown.loss().age().toMillis(), message);
    assertTrue(message.contains(name) && message.contains("100 ms"), message);
    assertTrue(message.contains("longer one"), message);
    assertTrue(
        assertThrows(IllegalMonitorStateException.class, lock::unlock)
            .getMessage()
            .contains("released it already"),
        "the hold is released in spite of that");
  }

  @Test
  void anUnlockByAThreadThatNeverLockedSaysSo() throws Exception {
    lock.lock();
    String message =
        AsyncCall.start(
                () -> assertThrows(IllegalMonitorStateException.class, lock::unlock).getMessage())
            .get();
    assertTrue(message.contains("never locked it") && message.contains(name), message);
    assertTrue(redis.exists(name));
    lock.unlock();
  }

  @Test
  void aBrokenKeyAndABlockedListenerStopNoOtherRenewal() throws Exception {
    Duration briefLease = Duration.ofSeconds(2); // two of them pass
    RedisLock lock = tested.use(LockOptions.builder().lease(briefLease));
    RedisLock broken = new RedisLock(tested.client(), Names.fresh());
    RedisLock third = new RedisLock(tested.client(), Names.fresh());
    CountDownLatch blocked = new CountDownLatch(1);
    lock.lock();
    broken.lock();
    third.lock();
    broken.lease().onLost(loss -> awaitForever(blocked));
    Lease lost = broken.lease();
    redis.command("SET", broken.name(), "a string");

    until("it is lost", () -> lost.state() == State.LOST);

    assertEquals(Reason.MISSING, lost.loss().orElseThrow().reason());
    holdsFor(
        briefLease.multipliedBy(2),
        "the others are renewed",
        () -> lock.isHeldByCurrentThread() && third.isHeldByCurrentThread());
    assertEquals(State.HELD, lock.lease().state());
    blocked.countDown();
    lock.unlock();
    third.unlock();
    assertThrows(LeaseLostException.class, broken::unlock);
  }

  private static void awaitForever(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
