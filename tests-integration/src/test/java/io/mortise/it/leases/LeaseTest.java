package io.mortise.it.leases;

import static io.mortise.it.support.Eventually.holdsFor;
import static io.mortise.it.support.Eventually.until;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.LockFixture;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** For how long a hold lasts, and that nothing lasts longer. */
@Timeout(60)
class LeaseTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration HOUR = Duration.ofHours(1);

  @RegisterExtension
  final LockFixture tested = LockFixture.proxied(redis, LockOptions.builder().lease(LEASE)).warm();

  private final String name = tested.name();
  private final FaultProxy proxy = tested.proxy();
  private final RedisLock lock = tested.lock();

  @Test
  void isRenewedForAsLongAsItIsHeld() {
    lock.lock();
    Lease lease = lock.lease();
    holdsFor(
        LEASE.multipliedBy(4).dividedBy(3), "held", () -> lease.isValid() && redis.exists(name));
    lock.unlock();
    assertFalse(redis.exists(name));
  }

  @Test
  void startsBeforeTheRequestAndEndsHereBeforeItEndsInRedis() throws Exception {
    proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(400));
    Lease lease = lock.acquire(Duration.ofSeconds(5), Duration.ofSeconds(2)).orElseThrow();
    proxy.restore();
    Duration left = lease.remaining();
    assertTrue(left.toMillis() < 1_600 && !left.isZero(), () -> left + " left of 2 s");
    // Redis is asked after the client: if that takes long, the next try can still show it.
    until("it ends later in Redis", () -> lease.remaining().toMillis() < redis.ttlMillis(name));
    until("it has ended here", () -> lease.state() == State.LOST);
  }

  @Test
  void aGrantThatArrivesAfterItsLeaseIsOverIsNoHold() throws Exception {
    proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(500));
    AsyncCall<Boolean> caller =
        AsyncCall.start(() -> lock.tryLock(Duration.ofSeconds(10), Duration.ofMillis(300)));
    holdsFor(Duration.ofMillis(1_200), "it still tries", () -> !caller.isDone());
    proxy.restore();
    assertTrue(caller.get());
  }

  @Test
  void aHoldThatWasAtRiskIsHeldAgainWhenRedisComesBackInTime() {
    RedisLock lock = tested.use(LockOptions.builder().lease(Duration.ofSeconds(4)));
    List<State> states = new CopyOnWriteArrayList<>();
    lock.lock();
    lock.lease().onStateChange(states::add);
    proxy.cut();
    until("it is at risk", () -> states.equals(List.of(State.AT_RISK)));

    proxy.restore();

    until("it is held", () -> states.equals(List.of(State.AT_RISK, State.HELD)));
    assertTrue(lock.lease().remaining().toMillis() > 2_500);
    lock.unlock();
  }

  @Test
  void aRenewalInTransitDoesNotReviveAReleasedHold() throws Exception {
    RedisLock lock = tested.use(LockOptions.builder().lease(Duration.ofMillis(4_500)));
    until(
        "there are two connections",
        () -> {
          AsyncCall.start(lock::isLocked);
          return !lock.isLocked() && proxy.connections() >= 2;
        });
    int together = 0;
    for (int round = 0; round < 5; round++) {
      lock.lock();
      proxy.delay(Direction.TO_SERVER, HOUR);
      until("a renewal is in transit", () -> tested.client().status().connectionsInUse() == 1);
      AsyncCall<Boolean> network = AsyncCall.start(this::letBothPass);
      lock.unlock();
      together += network.get() ? 1 : 0;
      holdsFor(Duration.ofMillis(50), "it stays free", () -> !redis.exists(name));
    }
    assertTrue(together > 0, "no renewal and release were in transit together");
  }

  /** Returns false if the renewal had ended when the release was sent. */
  private boolean letBothPass() {
    long start = System.nanoTime();
    boolean[] both = {false};
    until(
        "the release is in transit too",
        () -> {
          both[0] |= tested.client().status().connectionsInUse() == 2;
          return both[0] || System.nanoTime() - start > 400_000_000L;
        });
    proxy.restore();
    return both[0];
  }

  @Test
  void aRenewalThatArrivesAfterALossIsUndone() {
    lock.lock();
    Lease lease = lock.lease();
    proxy.delay(Direction.TO_CLIENT, LEASE.multipliedBy(2));
    until("it is lost here", () -> lease.state() == State.LOST);
    proxy.restore();
    until("nothing is left in Redis", () -> !redis.exists(name));
    holdsFor(Duration.ofMillis(300), "it stays free", () -> !redis.exists(name));
    assertThrows(LeaseLostException.class, lock::unlock);
  }

  @Test
  void theHoldOfADeadThreadIsNotRenewed() throws Exception {
    AsyncCall<Lease> dying =
        AsyncCall.start(
            () -> {
              lock.lock();
              return lock.lease();
            });
    Lease lease = dying.get();
    dying.thread().join();

    assertTrue(lock.tryLock(Duration.ofSeconds(20)));

    assertEquals(State.LOST, lease.state());
    String why = lease.loss().orElseThrow().detail();
    assertTrue(why.contains("ended without unlocking"), why);
    lock.unlock();
  }

  @Test
  void aHoldIsRenewedForMaxHoldAndNoLonger() {
    Duration maxHold = Duration.ofSeconds(4);
    RedisLock lock = tested.use(LockOptions.builder().lease(LEASE).maxHold(maxHold));
    long start = System.nanoTime(); // before the hold: what comes late makes the time longer
    lock.lock();
    Lease lease = lock.lease();
    until("it ends", () -> !lease.isValid());
    long millis = (System.nanoTime() - start) / 1_000_000;

    assertTrue(millis > maxHold.toMillis() - 500, () -> "ended after " + millis + " ms");
    assertTrue(lease.loss().orElseThrow().detail().contains("LockOptions.maxHold"));
    until("in Redis too", () -> !redis.exists(name));
    assertThrows(LeaseLostException.class, lock::unlock);
  }
}
