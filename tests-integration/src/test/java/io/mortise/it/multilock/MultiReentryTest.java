package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.multilock.MultiLock;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A thread that locks a MultiLock owns its members, and may lock them by themselves as well. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class MultiReentryTest {
  private static final Set<Integer> BOTH = Set.of(0, 1);

  @RegisterExtension static final MemberServers sites = new MemberServers(2);

  private RedisLock a;
  private RedisLock b;
  private MultiLock both;

  @BeforeEach
  void open() {
    a = sites.lock(0);
    b = sites.lock(1);
    both = sites.multi();
  }

  @AfterEach
  void nothingIsLeft() {
    assertEquals(Set.of(), sites.held());
    assertEquals(0, a.holdCount() + b.holdCount() + both.holdCount());
    sites.awaitIdle();
  }

  private static void assertCounts(int ofMulti, int ofA, int ofB) {
    assertEquals(
        List.of(ofMulti, ofA, ofB),
        List.of(sites.multi().holdCount(), sites.lock(0).holdCount(), sites.lock(1).holdCount()));
  }

  @Test
  void aMemberLockedAfterTheWholeAndUnlockedBefore() {
    both.lock();
    a.lock();
    assertCounts(1, 2, 1);
    a.unlock();
    assertCounts(1, 1, 1);
    both.lease().ensureValid();
    both.unlock();
    assertCounts(0, 0, 0);
  }

  @Test
  void aMemberLockedAfterTheWholeOutlivesIt() {
    both.lock();
    a.lock();
    both.unlock();
    assertCounts(0, 1, 0);
    assertEquals(Set.of(0), sites.held());
    a.lease().ensureValid();
    assertFalse(sites.other(0).tryLock());
    assertTrue(sites.other(1).tryLock());
    sites.other(1).unlock();
    a.unlock();
  }

  @Test
  void aMemberLockedBeforeTheWholeOutlivesIt() {
    b.lock();
    both.lock();
    assertCounts(1, 1, 2);
    both.unlock();
    assertCounts(0, 0, 1);
    assertEquals(Set.of(1), sites.held());
    b.unlock();
  }

  @Test
  void aMemberLockedBeforeTheWholeAndUnlockedBeforeStaysHeldByTheWhole() {
    b.lock();
    both.lock();
    b.unlock();
    assertCounts(1, 1, 1);
    both.lease().ensureValid();
    assertEquals(BOTH, sites.held());
    both.unlock();
  }

  @Test
  void theWholeIsEnteredAgainWithoutARoundTrip() throws Exception {
    both.lock();
    for (int i = 0; i < 2; i++) {
      sites.server(i).resetStats();
    }
    both.lock();
    assertTrue(both.tryLock());
    assertTrue(both.tryLock(MemberServers.HOUR));
    assertEquals(4, both.holdCount());
    both.unlock();
    both.unlock();
    both.unlock();
    assertEquals(1, both.holdCount());
    for (int i = 0; i < 2; i++) {
      assertEquals(0, sites.calls(i));
    }
    both.unlock();
    var unlocked = assertThrows(IllegalMonitorStateException.class, both::unlock);
    assertTrue(unlocked.getMessage().contains("released it already"), unlocked::getMessage);
  }

  @Test
  void overlappingWholesAreCountedByMember() {
    RedisLock c = new RedisLock(sites.here(0), sites.name(0) + ":c");
    MultiLock other = new MultiLock(c, b);
    both.lock();
    other.lock();
    assertCounts(1, 1, 2);
    assertEquals(1, c.holdCount());
    both.unlock();
    assertCounts(0, 0, 1);
    other.lease().ensureValid();
    other.unlock();
    assertFalse(sites.exists(0, c.name()));
  }

  @Test
  void whatThisThreadOwnsStaysItsOwnWhenTheRestCannotBeHad() throws Exception {
    a.lock();
    sites.holdAsStranger(1);
    assertFalse(both.tryLock());
    assertFalse(both.tryLock(Duration.ofMillis(600)));
    assertCounts(0, 1, 0);
    a.lease().ensureValid();
    sites.releaseAsStranger(1);
    assertTrue(both.tryLock());
    both.unlock();
    a.unlock();
  }

  /** The first one is entered, and lost while the second one is lengthened. */
  @Test
  void aReentryThatFindsAMemberLostLeavesNoLevelBehind() throws Exception {
    LockOptions patient = MemberServers.options().commandTimeout(MemberServers.LIVENESS).build();
    try (LockClient one = LockClient.create(sites.proxy(0).uri(), patient);
        LockClient two = LockClient.create(sites.proxy(1).uri(), patient)) {
      RedisLock first = new RedisLock(one, sites.name(0));
      RedisLock second = new RedisLock(two, sites.name(1));
      MultiLock whole = new MultiLock(first, second);
      whole.lock(Duration.ofSeconds(20));
      sites.proxy(1).delay(Direction.TO_CLIENT, MemberServers.HOUR);
      AsyncCall<Boolean> force =
          AsyncCall.start(
              () -> {
                Eventually.until("the first is lengthened", () -> sites.ttlMillis(0) > 60_000);
                boolean forced = first.forceUnlock();
                sites.proxy(1).restore();
                return forced;
              });

      assertThrows(LeaseLostException.class, () -> whole.lock(MemberServers.HOUR));

      assertTrue(force.get());
      assertThrows(LeaseLostException.class, whole::unlock);
      assertEquals(0, whole.holdCount() + first.holdCount() + second.holdCount());
      assertThrows(IllegalMonitorStateException.class, second::unlock);
      sites.awaitHeld(Set.of());
    }
  }

  @Test
  void whatThisThreadOwnsStaysItsOwnWhenTheRestFails() {
    a.lock();
    MemberFault.REFUSING.begin(sites, 1);
    assertThrows(LockException.class, both::tryLock);
    assertCounts(0, 1, 0);
    a.lease().ensureValid();
    a.unlock();
    sites.restore();
  }

  @Test
  void anotherThreadIsAnotherOwner() throws Exception {
    both.lock();
    assertFalse(AsyncCall.start(both::tryLock).get());
    assertFalse(AsyncCall.start(a::tryLock).get());
    assertEquals(0, AsyncCall.start(both::holdCount).get());
    assertThrows(IllegalMonitorStateException.class, () -> AsyncCall.start(unlock(both)).get());
    assertThrows(IllegalMonitorStateException.class, () -> AsyncCall.start(unlock(a)).get());
    both.unlock();
  }

  private static Callable<Boolean> unlock(Lock lock) {
    return () -> {
      lock.unlock();
      return true;
    };
  }

  @Test
  void aHandleIsNobodysAndItsMembersAreToo() {
    Lease lease = both.tryAcquire().orElseThrow();
    assertCounts(0, 0, 0);
    assertFalse(a.tryLock());
    assertThrows(IllegalMonitorStateException.class, a::unlock);
    assertThrows(IllegalMonitorStateException.class, both::unlock);
    lease.close();
    assertTrue(a.tryLock());
    a.unlock();
  }

  @Test
  void aMemberUnlockedByItselfEndsTheWholeAndUnlockSaysSoAndReleasesTheRest() {
    both.lock();
    Lease lease = both.lease();
    List<LeaseLoss> told = new CopyOnWriteArrayList<>();
    lease.onLost(told::add);

    a.unlock();

    assertFalse(lease.isValid());
    assertCounts(0, 0, 1);
    assertEquals(Set.of(1), sites.held());
    Eventually.until("it is told", () -> !told.isEmpty());
    assertTrue(told.get(0).detail().contains("by itself"), told::toString);
    assertThrows(LeaseLostException.class, lease::ensureValid);
    assertThrows(LeaseLostException.class, both::lock);
    assertThrows(LeaseLostException.class, both::unlock);
    assertEquals(1, told.size());
  }

  @Test
  void allMembersUnlockedByThemselvesEndTheWhole() {
    both.lock();
    b.unlock();
    a.unlock();
    assertEquals(Set.of(), sites.held());
    assertThrows(LeaseLostException.class, both::unlock);
    assertTrue(both.tryLock());
    both.unlock();
  }

  @Test
  void aMemberOfWhichAHoldWasLostCannotBePartOfANewWhole() {
    a.lock();
    sites.server(0).command("DEL", sites.name(0));
    Eventually.until("the loss is seen", () -> a.holdCount() == 0);
    assertThrows(LeaseLostException.class, both::tryLock);
    assertEquals(Set.of(), sites.held());
    assertThrows(LeaseLostException.class, a::unlock);
    assertTrue(both.tryLock());
    both.unlock();
  }
}
