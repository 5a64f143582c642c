package io.mortise.it.multilock;

import static io.mortise.it.multilock.MemberServers.HOUR;
import static io.mortise.it.support.Eventually.LIVENESS;
import static io.mortise.it.support.ServerFault.REFUSING;
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
import io.mortise.it.support.LateAnswer;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A thread that locks a MultiLock owns its members, and may lock them separately as well. */
@Timeout(60)
class MultiReentryTest {
  private static final Set<Integer> BOTH = Set.of(0, 1);
  private static final Duration LEASE = Duration.ofSeconds(4);
  private static final Duration LONGER_THAN_A_LEASE = Duration.ofSeconds(6);

  @RegisterExtension
  static final MemberServers servers = new MemberServers(2, Duration.ofSeconds(10));

  private final RedisLock a = servers.lock(0);
  private final RedisLock b = servers.lock(1);
  private final MultiLock both = servers.multi();

  @AfterEach
  void nothingIsHeld() {
    assertEquals(Set.of(), servers.held());
    assertEquals(0, a.holdCount() + b.holdCount() + both.holdCount());
  }

  private static void assertCounts(int ofMulti, int ofA, int ofB) {
    assertEquals(
        List.of(ofMulti, ofA, ofB),
        List.of(
            servers.multi().holdCount(), servers.lock(0).holdCount(), servers.lock(1).holdCount()));
  }

  @Test
  void aMemberLockedAfterTheWholeAndUnlockedBeforeIt() {
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
    assertEquals(Set.of(0), servers.held());
    a.lease().ensureValid();
    assertFalse(servers.other(0).tryLock());
    assertTrue(servers.other(1).tryLock());
    servers.other(1).unlock();
    a.unlock();
  }

  @Test
  void aMemberLockedBeforeTheWholeOutlivesIt() {
    b.lock();
    both.lock();
    assertCounts(1, 1, 2);
    both.unlock();
    assertCounts(0, 0, 1);
    assertEquals(Set.of(1), servers.held());
    b.unlock();
  }

  @Test
  void aMemberLockedBeforeTheWholeAndUnlockedBeforeStaysHeldByTheWhole() {
    b.lock();
    both.lock();
    b.unlock();
    assertCounts(1, 1, 1);
    both.lease().ensureValid();
    assertEquals(BOTH, servers.held());
    both.unlock();
  }

  @Test
  void theWholeIsReenteredWithoutARoundTrip() throws Exception {
    both.lock();
    long before = servers.scriptCalls();
    both.lock();
    assertTrue(both.tryLock());
    assertTrue(both.tryLock(HOUR));
    assertEquals(4, both.holdCount());
    both.unlock();
    both.unlock();
    both.unlock();
    assertEquals(1, both.holdCount());
    assertEquals(before, servers.scriptCalls());
    both.unlock();
    var unlocked = assertThrows(IllegalMonitorStateException.class, both::unlock);
    assertTrue(unlocked.getMessage().contains("released it already"), unlocked::getMessage);
  }

  @Test
  void overlappingWholesAreCountedByMember() {
    RedisLock c = new RedisLock(servers.here(0), servers.name(0) + ":c");
    MultiLock other = new MultiLock(c, b);
    both.lock();
    other.lock();
    assertCounts(1, 1, 2);
    assertEquals(1, c.holdCount());
    both.unlock();
    assertCounts(0, 0, 1);
    other.lease().ensureValid();
    other.unlock();
    assertFalse(servers.exists(c.name(), 0));
  }

  private static void assertIsRenewed(Lease lease) {
    Eventually.holdsFor(LONGER_THAN_A_LEASE, "it is renewed", lease::isValid);
  }

  @Test
  void aMemberLockedForALeaseBeforeTheWholeAndUnlockedBeforeLeavesTheWholeRenewed() {
    a.withLease(LEASE).lock();
    both.lock();
    a.unlock();
    assertIsRenewed(both.lease());
    both.unlock();
  }

  @Test
  void aMemberLockedAfterAWholeThatHasALeaseStaysRenewedWhenItOutlivesIt() {
    both.withLease(LEASE).lock();
    a.lock();
    both.unlock();
    assertIsRenewed(a.lease());
    a.unlock();
  }

  @Test
  void aWholeThatOutlivesAnotherOneWithALeaseStaysRenewed() {
    RedisLock c = new RedisLock(servers.here(0), servers.name(0) + ":c");
    MultiLock other = new MultiLock(c, b);
    both.withLease(LEASE).lock();
    other.lock();
    both.unlock();
    assertIsRenewed(other.lease());
    other.unlock();
  }

  @Test
  void aWholeWithALeaseThatOutlivesAMemberEndsWithItsLease() {
    a.lock();
    both.withLease(LEASE).lock();
    a.unlock();
    Lease lease = both.lease();
    Eventually.until("its lease is over", () -> !lease.isValid());
    servers.awaitHeld(Set.of());
    assertThrows(LeaseLostException.class, both::unlock);
  }

  /** The whole is renewed, and a part of the member's lease is over when the thread enters it. */
  @Test
  void aMemberLockedForALeaseThatOutlivesTheWholeHasAllOfItsLease() {
    Duration lease = servers.here(0).options().lease();
    both.lock();
    Eventually.until(
        "a part of the lease is over",
        () -> a.lease().remaining().compareTo(lease.multipliedBy(9).dividedBy(10)) < 0);
    long start = System.nanoTime();
    a.withLease(lease).lock();
    both.unlock();
    Duration left = a.lease().remaining();
    Duration had = left.plusNanos(System.nanoTime() - start);
    assertTrue(had.compareTo(lease.multipliedBy(95).dividedBy(100)) > 0, had::toString);
    a.unlock();
  }

  /** It would wait for itself if it did not have the write lock. */
  @Test
  void aThreadThatWritesAndReadsReentersTheWriteLockAsAMember() {
    RedisReadWriteLock table = new RedisReadWriteLock(servers.here(0), servers.name(0) + ":table");
    MultiLock whole = new MultiLock(b, table.writeLock());
    table.writeLock().lock();
    table.readLock().lock();
    assertThrows(IllegalStateException.class, whole::acquire, "a handle belongs to no thread");
    whole.lock();
    assertEquals(2, table.writeLock().holdCount());
    whole.unlock();
    table.writeLock().unlock();
    assertThrows(IllegalStateException.class, whole::lock, "it only reads now");
    table.readLock().unlock();
  }

  @Test
  void whatThisThreadOwnsStaysItsOwnWhenTheRestIsBusy() throws Exception {
    a.lock();
    servers.holdAsStranger(1);
    assertFalse(both.tryLock());
    assertFalse(LateAnswer.tryLock(both, Duration.ofSeconds(2)));
    assertCounts(0, 1, 0);
    a.lease().ensureValid();
    servers.releaseAsStranger(1);
    assertTrue(both.tryLock());
    both.unlock();
    a.unlock();
  }

  /** The first member is re-entered, and lost while the second one is extended. */
  @Test
  void aReentryThatFindsAMemberLostLeavesNoLevelBehind() throws Exception {
    LockOptions longTimeout = MemberServers.options().commandTimeout(LIVENESS).build();
    LockClient one = servers.client(servers.proxy(0).uri(), longTimeout);
    LockClient two = servers.client(servers.proxy(1).uri(), longTimeout);
    RedisLock first = new RedisLock(one, servers.name(0));
    RedisLock second = new RedisLock(two, servers.name(1));
    MultiLock whole = new MultiLock(first, second);
    whole.withLease(Duration.ofSeconds(20)).lock();
    servers.proxy(1).delay(Direction.TO_CLIENT, HOUR);
    AsyncCall<Boolean> force =
        AsyncCall.start(
            () -> {
              Eventually.until("the first is extended", () -> servers.ttlMillis(0) > 60_000);
              boolean forced = first.forceUnlock();
              servers.proxy(1).restore();
              return forced;
            });

    assertThrows(LeaseLostException.class, () -> whole.withLease(HOUR).lock());

    assertTrue(force.get());
    assertThrows(LeaseLostException.class, whole::unlock);
    assertEquals(0, whole.holdCount() + first.holdCount() + second.holdCount());
    assertThrows(IllegalMonitorStateException.class, second::unlock);
    servers.awaitHeld(Set.of());
  }

  /** The first member is re-entered before the server of the second refuses to extend its lease. */
  @Test
  void aReentryThatOneMemberRefusesLeavesNoLevelOfTheOthers() {
    both.lock();
    servers.server(1).command("REPLICAOF", "127.0.0.1", "1");
    try {
      assertThrows(LockException.class, () -> both.withLease(HOUR).lock());
    } finally {
      servers.server(1).command("REPLICAOF", "NO", "ONE");
    }
    assertCounts(1, 1, 1);
    both.unlock();
  }

  @Test
  void whatThisThreadOwnsStaysItsOwnWhenTheRestFails() {
    a.lock();
    servers.begin(REFUSING, 1);
    assertThrows(LockException.class, both::tryLock);
    assertCounts(0, 1, 0);
    a.lease().ensureValid();
    a.unlock();
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
  void aHandleAndItsMembersBelongToNoThread() {
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
  void aMemberUnlockedSeparatelyEndsTheWholeAndUnlockReportsItAndReleasesTheRest() {
    both.lock();
    Lease lease = both.lease();
    List<LeaseLoss> losses = new CopyOnWriteArrayList<>();
    lease.onLost(losses::add);

    a.unlock();

    assertFalse(lease.isValid());
    assertEquals(List.of(0, 1), List.of(a.holdCount(), b.holdCount()));
    assertEquals(Set.of(1), servers.held());
    Eventually.until("the loss is notified", () -> !losses.isEmpty());
    assertTrue(losses.get(0).detail().contains("by itself"), losses::toString);
    assertThrows(LeaseLostException.class, lease::ensureValid);
    assertThrows(LeaseLostException.class, both::unlock);
    assertEquals(Set.of(), servers.held());
    assertEquals(1, losses.size());
  }

  @Test
  void aWholeThatWasEndedByAMemberIsLockedAgainWhenItsThreadHasBeenTold() {
    both.lock();
    a.unlock();
    assertThrows(LeaseLostException.class, both::lock);
    both.lock();
    assertCounts(1, 1, 1);
    both.unlock();
  }

  @Test
  void allMembersUnlockedSeparatelyEndTheWhole() {
    both.lock();
    b.unlock();
    a.unlock();
    assertEquals(Set.of(), servers.held());
    assertThrows(LeaseLostException.class, both::unlock);
    assertTrue(both.tryLock());
    both.unlock();
  }

  @Test
  void aMemberOfWhichAHoldWasLostIsPartOfANewWholeWhenItsThreadHasBeenTold() {
    a.lock();
    Lease lost = a.lease();
    servers.server(0).command("DEL", servers.name(0));
    Eventually.until("the loss is noticed", () -> !lost.isValid());
    assertThrows(LeaseLostException.class, both::tryLock);
    assertEquals(Set.of(), servers.held());
    assertTrue(both.tryLock());
    assertCounts(1, 1, 1);
    both.unlock();
    assertThrows(IllegalMonitorStateException.class, a::unlock);
  }
}
