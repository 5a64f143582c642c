package io.mortise.it.leases;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static io.mortise.it.support.SharedRedis.freshName;
import static io.mortise.it.support.SharedRedis.warm;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pitfalls 9 and 13: a hold that is lost is told so, to whom, when, and why. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class LeaseLossTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration LEASE = Duration.ofMillis(1_200);
  private static final Duration HOUR = Duration.ofHours(1);

  private final String name = freshName();
  private FaultProxy proxy;
  private LockClient client;
  private RedisLock lock;

  @BeforeEach
  void open() {
    proxy = FaultProxy.to(redis.server());
    use(LockOptions.builder().lease(LEASE));
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
  void close() {
    client.close();
    proxy.close();
  }

  @Test // pitfall 9
  void aLossIsKnownAtTheLocalDeadlineWhenRedisCannotBeReached() throws Exception {
    List<State> states = new CopyOnWriteArrayList<>();
    CountDownLatch told = new CountDownLatch(1);
    lock.lock();
    Lease lease = lock.lease();
    lease.onStateChange(states::add);
    lease.onLost(loss -> told.countDown());
    long start = System.nanoTime();
    proxy.cut();

    until("it is at risk first", () -> lease.state() == State.AT_RISK);
    assertTrue(lease.isValid() && lock.isHeldByCurrentThread());
    until("then lost", () -> lease.state() == State.LOST);

    long lostMillis = (lease.loss().orElseThrow().atNanos() - start) / 1_000_000;
    assertTrue(lostMillis <= LEASE.toMillis() + 50, () -> "lost after " + lostMillis + " ms");
    assertTrue(told.await(20, java.util.concurrent.TimeUnit.SECONDS));
    assertEquals(List.of(State.AT_RISK, State.LOST), states);
    assertEquals(Reason.EXPIRED, lease.loss().orElseThrow().reason());
    assertEquals(Duration.ZERO, lease.remaining());
    assertFalse(lock.isHeldByCurrentThread());
    assertEquals(0, lock.holdCount());
    assertThrows(LeaseLostException.class, lease::ensureValid);
    assertThrows(LeaseLostException.class, lock::lock, "re-entry into a lost hold");
    assertThrows(LeaseLostException.class, lock::unlock);
  }

  @Test // pitfall 9
  void aHoldThatRedisHasLostIsToldAtTheNextRenewal() throws Exception {
    lock.lock();
    Lease lease = lock.lease();
    CountDownLatch told = new CountDownLatch(1);
    lease.onLost(loss -> told.countDown());

    redis.server().command("FLUSHALL");

    until("the loss is seen", () -> lease.state() == State.LOST);
    assertEquals(Reason.MISSING, lease.loss().orElseThrow().reason());
    assertTrue(told.await(20, java.util.concurrent.TimeUnit.SECONDS));
    LeaseLostException thrown = assertThrows(LeaseLostException.class, lock::unlock);
    assertTrue(thrown.getMessage().contains("does not know this hold"), thrown.getMessage());
    assertTrue(lock.tryLock(), "and it can be had again");
    lock.unlock();
  }

  @Test // pitfall 9
  void aServerThatRestartsEmptyIsToldAtTheNextRenewal() {
    use(LockOptions.builder().lease(Duration.ofSeconds(3)));
    lock.lock();
    Lease lease = lock.lease();
    redis.server().kill();
    redis.server().restart();
    until("the loss is seen", () -> lease.state() == State.LOST);
    assertEquals(Reason.MISSING, lease.loss().orElseThrow().reason());
    assertThrows(LeaseLostException.class, lock::unlock);
  }

  @Test // pitfall 13
  void aHoldTakenByForceIsToldAtTheNextRenewalAndStaysTheNextHolders() {
    lock.lock();
    Lease lease = lock.lease();
    try (LockClient other = redis.client()) {
      RedisLock lockOfOther = new RedisLock(other, name);
      assertTrue(lockOfOther.forceUnlock());
      assertTrue(lockOfOther.tryLock());

      until("the loss is seen", () -> lease.state() == State.LOST);

      assertEquals(Reason.FORCED, lease.loss().orElseThrow().reason());
      LeaseLostException thrown = assertThrows(LeaseLostException.class, lock::unlock);
      assertTrue(thrown.getMessage().contains("by force"), thrown.getMessage());
      assertTrue(lockOfOther.lease().fencingToken() > lease.fencingToken());
      holdsFor(Duration.ofMillis(300), "the next one has it", () -> redis.exists(name));
      lockOfOther.unlock();
    }
  }

  @Test // pitfall 13
  void aHoldTakenByForceIsToldAtItsReleaseToo() {
    lock.lock(HOUR);
    redis.server().resetStats();
    try (LockClient other = redis.client()) {
      assertTrue(new RedisLock(other, name).forceUnlock());
    }
    LeaseLostException thrown = assertThrows(LeaseLostException.class, lock::unlock);
    assertEquals(Reason.FORCED, thrown.loss().reason());
  }

  @Test // pitfall 13
  void anUnlockTooLateSaysHowLateAndWhatToDo() {
    lock.lock(Duration.ofMillis(100));
    Lease lease = lock.lease();
    until("it is long over", () -> lease.loss().map(l -> l.age().toMillis() > 250).orElse(false));

    LeaseLostException thrown = assertThrows(LeaseLostException.class, lock::unlock);

    assertEquals(Reason.EXPIRED, thrown.loss().reason());
    String message = thrown.getMessage();
    assertTrue(message.matches(".*lost [23]\\d\\d ms ago.*|.*lost \\d{4,} ms ago.*"), message);
    assertTrue(message.contains(name) && message.contains("100 ms"), message);
    assertTrue(message.contains("longer one"), message);
    assertTrue(thrown.loss().age().toMillis() >= 250);
    assertTrue(
        assertThrows(IllegalMonitorStateException.class, lock::unlock)
            .getMessage()
            .contains("released it already"),
        "the hold is given up all the same");
  }

  @Test // pitfall 13
  void anUnlockByAThreadThatNeverHeldItSaysThat() throws Exception {
    lock.lock();
    String message =
        AsyncCall.start(
                () -> assertThrows(IllegalMonitorStateException.class, lock::unlock).getMessage())
            .get();
    assertTrue(message.contains("never locked it") && message.contains(name), message);
    assertTrue(redis.exists(name));
    lock.unlock();
  }

  @Test // pitfall 9
  void oneBrokenKeyAndOneBlockingListenerStopNoOtherRenewal() throws Exception {
    RedisLock broken = new RedisLock(client, freshName());
    RedisLock third = new RedisLock(client, freshName());
    CountDownLatch blocked = new CountDownLatch(1);
    lock.lock();
    broken.lock();
    third.lock();
    broken.lease().onLost(loss -> awaitForever(blocked));
    Lease lost = broken.lease();
    redis.server().command("SET", broken.name(), "a string");

    until("its loss is told", () -> lost.state() == State.LOST);

    assertEquals(Reason.MISSING, lost.loss().orElseThrow().reason());
    holdsFor(
        LEASE.multipliedBy(2),
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
