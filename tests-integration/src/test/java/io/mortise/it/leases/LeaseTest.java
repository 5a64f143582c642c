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
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.SharedRedis;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pitfalls 9, 10, 11 and 43: for how long a hold lasts, and that nothing lasts longer. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class LeaseTest {
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

  @Test
  void isRenewedForAsLongAsItIsHeld() {
    lock.lock();
    Lease lease = lock.lease();
    holdsFor(LEASE.multipliedBy(2), "held", () -> lease.isValid() && redis.exists(name));
    lock.unlock();
    assertFalse(redis.exists(name));
  }

  @Test // pitfall 43
  void isCountedFromBeforeTheRequestAndEndsHereBeforeItEndsInRedis() throws Exception {
    proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(400));
    Lease lease = lock.acquire(Duration.ofSeconds(5), Duration.ofSeconds(2)).orElseThrow();
    proxy.restore();
    Duration left = lease.remaining();
    assertTrue(left.toMillis() < 1_600 && !left.isZero(), () -> left + " left of 2 s");
    assertTrue(left.toMillis() < redis.ttlMillis(name), "Redis is later");
    until("it is over here", () -> lease.state() == State.LOST);
  }

  @Test // pitfalls 1 and 43
  void aGrantThatArrivesAfterItsLeaseIsOverIsNone() throws Exception {
    proxy.delay(Direction.TO_CLIENT, Duration.ofMillis(500));
    AsyncCall<Boolean> caller =
        AsyncCall.start(() -> lock.tryLock(Duration.ofSeconds(10), Duration.ofMillis(300)));
    holdsFor(Duration.ofMillis(1_200), "it goes on trying", () -> !caller.isDone());
    proxy.restore();
    assertTrue(caller.get());
  }

  @Test // pitfall 9
  void aHoldThatWasAtRiskIsHeldAgainWhenRedisComesBackInTime() {
    use(LockOptions.builder().lease(Duration.ofSeconds(4)));
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

  @Test // pitfall 11
  void aRenewalOnItsWayDoesNotReviveWhatIsReleased() throws Exception {
    use(LockOptions.builder().lease(Duration.ofMillis(1_500)));
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
      until("a renewal is on its way", () -> client.status().connectionsInUse() == 1);
      AsyncCall<Boolean> network = AsyncCall.start(this::letBothThrough);
      lock.unlock();
      together += network.get() ? 1 : 0;
      holdsFor(Duration.ofMillis(50), "it stays free", () -> !redis.exists(name));
    }
    assertTrue(together > 0, "not once were the renewal and the release on their way together");
  }

  /** False if the renewal was not under way any more when the release was sent. */
  private boolean letBothThrough() {
    long start = System.nanoTime();
    boolean[] both = {false};
    until(
        "the release is on its way too",
        () -> {
          both[0] |= client.status().connectionsInUse() == 2;
          return both[0] || System.nanoTime() - start > 400_000_000L;
        });
    proxy.restore();
    return both[0];
  }

  @Test // pitfall 11
  void aRenewalThatArrivesAfterALossIsUndone() {
    lock.lock();
    Lease lease = lock.lease();
    proxy.delay(Direction.TO_CLIENT, LEASE.multipliedBy(2));
    until("it is lost here", () -> lease.state() == State.LOST);
    proxy.restore();
    until("nothing is left in Redis", () -> !redis.exists(name));
    holdsFor(Duration.ofMillis(300), "nor comes back", () -> !redis.exists(name));
    assertThrows(LeaseLostException.class, lock::unlock);
  }

  @Test // pitfall 10
  void theHoldOfADeadThreadIsNotRenewedAndEnds() throws Exception {
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

  @Test // pitfall 10
  void aHoldThatNobodyEndsIsRenewedForMaxHoldAndNoLonger() {
    Duration maxHold = Duration.ofSeconds(2);
    use(LockOptions.builder().lease(LEASE).maxHold(maxHold));
    lock.lock();
    Lease lease = lock.lease();
    long start = System.nanoTime();
    until("it ends", () -> !lease.isValid());
    long millis = (System.nanoTime() - start) / 1_000_000;

    assertTrue(millis > maxHold.toMillis() - 500, () -> "ended after " + millis + " ms");
    assertTrue(lease.loss().orElseThrow().detail().contains("LockOptions.maxHold"));
    until("in Redis too", () -> !redis.exists(name));
    assertThrows(LeaseLostException.class, lock::unlock);
  }
}
