package io.mortise.it.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.it.support.RedissonPeers;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;

/** The claims of docs/migrating-from-redisson.md about both libraries, tried side by side. */
@Timeout(60)
class MigrationClaimsTest {
  @RegisterExtension static final RedissonPeers PEERS = new RedissonPeers();

  private final String name = Names.fresh();

  private static DistributedLock mortise(String name) {
    return PEERS.here().lock(name);
  }

  @Test
  void reentryDoesNotReachAcross() throws Exception {
    RLock before = PEERS.redisson().getLock(name);
    before.lock();
    assertFalse(mortise(name).tryLock());
    before.unlock();

    assertTrue(mortise(name).tryLock());
    assertFalse(before.tryLock());
    mortise(name).unlock();
  }

  @Test
  void theNamespaceIsWhatANameMapperAdds() {
    try (LockClient billing = PEERS.client(LockOptions.builder().namespace("billing:").build())) {
      RLock mapped = PEERS.redisson().getLock("billing:" + name);
      mapped.lock();
      assertFalse(billing.lock(name).tryLock());
      mapped.unlock();
    }
  }

  @Test
  void aThreadThatLocksAgainIsToldOfALossOnceByMortiseAlone() {
    RLock theirs = PEERS.redisson().getLock(name);
    theirs.lock();
    theirs.forceUnlock();
    assertTrue(theirs.tryLock());
    theirs.unlock();

    DistributedLock ours = mortise(name);
    ours.lock();
    ours.forceUnlock();
    String message = assertThrows(LeaseLostException.class, ours::tryLock).getMessage();
    assertTrue(message.endsWith("; undo what depends on it, then lock again"), message);
    assertTrue(ours.tryLock());
    ours.unlock();
    assertThrows(IllegalMonitorStateException.class, ours::unlock);
  }

  @Test
  void aThreadThatUnlocksOnlyWhatItHoldsMayLockAgainAtBoth() {
    RLock theirs = PEERS.redisson().getLock(name);
    theirs.lock();
    theirs.forceUnlock();
    assertFalse(theirs.isHeldByCurrentThread());
    assertTrue(theirs.tryLock());
    theirs.unlock();

    DistributedLock ours = mortise(name);
    ours.lock();
    ours.forceUnlock();
    Eventually.until("lost", () -> !ours.isHeldByCurrentThread());
    assertTrue(ours.tryLock());
    ours.unlock();
  }

  @Test
  void aLeaseOfZeroIsRenewedByRedissonAndRefusedByMortise() throws Exception {
    RLock lock = PEERS.redisson().getLock(name);
    assertTrue(lock.tryLock(0, 0, TimeUnit.SECONDS));
    assertTrue(lock.remainTimeToLive() > RedissonPeers.LONG_LEASE.toMillis() / 2);
    lock.unlock();

    assertThrows(
        IllegalArgumentException.class, () -> mortise(name).tryLock(0, 0, TimeUnit.SECONDS));
    assertTrue(mortise(name).tryLock(0, -1, TimeUnit.SECONDS));
    mortise(name).unlock();
  }

  @Test
  void theRemainingLeaseOfAFreeLockAndOfOneWithoutAnEnd() {
    RLock lock = PEERS.redisson().getLock(name);
    assertEquals(-2, lock.remainTimeToLive());
    assertEquals(Optional.empty(), mortise(name).remainingLease());

    PEERS.server().command("HSET", name, "stranger:1", "1");
    assertEquals(-1, lock.remainTimeToLive());
    assertEquals(Optional.of(LockOptions.MAX_LEASE), mortise(name).remainingLease());
  }

  @Test
  void theTokenOfRedissonChangesAtReentryAndThatOfMortiseDoesNot() {
    RFencedLock fenced = PEERS.redisson().getFencedLock(name);
    long first = fenced.lockAndGetToken();
    assertEquals(first + 1, fenced.lockAndGetToken());
    fenced.unlock();
    fenced.unlock();
    assertEquals(first + 1, fenced.getToken(), "nobody holds it");

    DistributedLock lock = mortise(name);
    lock.lock();
    long token = lock.lease().fencingToken();
    lock.lock();
    assertEquals(token, lock.lease().fencingToken());
    assertTrue(token > first + 1);
    assertNull(fenced.tryLockAndGetToken(0, TimeUnit.SECONDS));
    lock.unlock();
    lock.unlock();

    assertTrue(fenced.lockAndGetToken() > token);
    fenced.unlock();
    assertThrows(IllegalMonitorStateException.class, lock::lease);
  }

  @Test
  void withoutArgumentsRedissonWaitsForATokenAndMortiseDoesNot() throws Exception {
    DistributedLock lock = mortise(name);
    lock.lock();
    long token = lock.lease().fencingToken();
    assertEquals(Optional.empty(), PEERS.there().lock(name).tryAcquire());

    AsyncCall<Long> waiter =
        AsyncCall.start(() -> PEERS.redisson().getFencedLock(name).tryLockAndGetToken());
    PEERS.awaitSubscribers(name, 1);
    lock.unlock();

    assertTrue(waiter.get() > token);
  }

  @Test
  void anUpgradeIsRefusedByMortiseAndWaitsInRedisson() throws Exception {
    RReadWriteLock peer = PEERS.redisson().getReadWriteLock(name);
    peer.readLock().lock();
    assertFalse(peer.writeLock().tryLock(100, TimeUnit.MILLISECONDS));
    peer.readLock().unlock();

    RedisReadWriteLock lock = new RedisReadWriteLock(PEERS.here(), name);
    lock.readLock().lock();
    assertThrows(IllegalStateException.class, () -> lock.writeLock().lock());
    lock.readLock().unlock();
  }

  @Test
  void aMultiLockAnswersWhatRedissonsRefuses() {
    RLock peer = new RedissonMultiLock(PEERS.redisson().getLock(name));
    assertThrows(UnsupportedOperationException.class, peer::isLocked);
    assertThrows(UnsupportedOperationException.class, peer::forceUnlock);
    assertThrows(UnsupportedOperationException.class, peer::getHoldCount);
    assertThrows(UnsupportedOperationException.class, peer::remainTimeToLive);
    assertThrows(UnsupportedOperationException.class, peer::getName);

    DistributedLock lock = new MultiLock(mortise(name), mortise(Names.fresh()));
    lock.lock();
    assertTrue(lock.isLocked());
    assertEquals(1, lock.holdCount());
    assertTrue(lock.remainingLease().isPresent());
    lock.unlock();
  }

  @Test
  void aSpinLockExcludesAndSendsNoMessage() {
    assertEquals(1, messagesOf(PEERS.redisson().getLock(name)));
    assertEquals(0, messagesOf(PEERS.redisson().getSpinLock(name)));
  }

  /** Returns how many messages the release of a lock sends, which excludes Mortise before. */
  private long messagesOf(RLock lock) {
    PEERS.server().resetStats();
    lock.lock();
    assertFalse(mortise(name).tryLock());
    lock.unlock();
    return PEERS.server().commandStats().getOrDefault("publish", 0L);
  }

  @Test
  void aShutdownKeepsWhatAClosedClientReleases() {
    RedissonClient redisson = PEERS.redisson(RedissonPeers.LONG_LEASE);
    redisson.getLock(name).lock();
    redisson.shutdown();
    assertTrue(mortise(name).isLocked());
    assertTrue(mortise(name).forceUnlock());

    LockClient client = PEERS.client();
    client.lock(name).lock();
    client.close();
    assertFalse(mortise(name).isLocked());
  }
}
