package io.mortise.it.multilock;

import static io.mortise.it.support.Eventually.LIVENESS;
import static io.mortise.it.support.ProxiedServers.tokenKey;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.multilock.MultiLock;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Leases of the caller, and those of clients with their own options. */
@Timeout(60)
class GivenLeaseTest {
  @RegisterExtension static final MemberServers servers = new MemberServers(2);

  @Test
  void itIsTheLeaseOfEachMemberAndIsNotRenewed() throws Exception {
    Lease lease = servers.multi().acquire(LIVENESS, Duration.ofSeconds(3)).orElseThrow();
    List<LeaseLoss> losses = new CopyOnWriteArrayList<>();
    lease.onLost(losses::add);
    for (int i = 0; i < 2; i++) {
      long ttl = servers.ttlMillis(i);
      assertTrue(ttl > 0 && ttl <= 3_000, () -> ttl + " ms");
    }
    assertTrue(lease.remaining().compareTo(Duration.ofSeconds(3)) < 0);
    Eventually.until("the loss is notified", () -> !losses.isEmpty());
    assertEquals(Reason.EXPIRED, losses.get(0).reason());
    servers.awaitHeld(Set.of());
    assertThrows(LeaseLostException.class, lease::close);
    assertEquals(1, losses.size());
  }

  @Test
  void itMayBeShorterThanTheWaitForAMember() throws Exception {
    Duration lease = Duration.ofSeconds(2);
    servers.holdAsStranger(1);
    AsyncCall<Duration> waiter =
        AsyncCall.start(
            () -> {
              Lease held = servers.multi().acquire(LIVENESS, lease).orElseThrow();
              Duration left = held.remaining();
              held.ensureValid();
              held.close();
              return left;
            });
    Eventually.holdsFor(Duration.ofSeconds(3), "it waits", () -> !waiter.isDone());
    servers.releaseAsStranger(1);
    Duration left = waiter.get();
    assertTrue(left.compareTo(Duration.ZERO) > 0 && left.compareTo(lease) < 0, left::toString);
  }

  @Test
  void itBeginsWhenTheLastMemberIsAcquired() throws Exception {
    Duration lease = Duration.ofSeconds(20); // not over when each round trip takes longer
    LockOptions longTimeout =
        MemberServers.options().commandTimeout(Duration.ofSeconds(15)).build();
    LockClient slow = servers.client(servers.proxy(1).uri(), longTimeout);
    MultiLock lock = new MultiLock(servers.lock(0), new RedisLock(slow, servers.name(1)));
    raiseTokenOfFirst(1L << 52);
    lock.withLease(lease).tryAcquire().orElseThrow().close(); // the servers know the scripts then
    raiseTokenOfFirst(1L << 51 | 1L << 52);
    servers.proxy(1).delay(Duration.ofMillis(800));
    long start = System.nanoTime();
    Lease held = lock.withLease(lease).tryAcquire().orElseThrow();
    long ttl = servers.ttlMillis(0);
    long remaining = held.remaining().toMillis();
    long took = (System.nanoTime() - start) / 1_000_000;
    System.out.printf("lease of 20 s after %d ms: %d ms in Redis%n", took, ttl);
    // The members took 3.2 s; then each has the whole lease, with one more round trip of 1.6 s.
    long gone = took - 3_000;
    assertTrue(ttl > lease.toMillis() - gone, () -> ttl + " ms are left after " + took + " ms");
    long least = lease.toMillis() - gone - 600;
    assertTrue(remaining > least, () -> remaining + " ms remain after " + took + " ms");
    held.close();
  }

  /** The token of the second, slow member has to be raised, which takes one more round trip. */
  private static void raiseTokenOfFirst(long token) {
    servers.server(0).command("SET", tokenKey(servers.name(0)), Long.toString(token));
  }

  @Test
  void aWaitThatLosesAMemberWhileTheLastOneIsAcquiredBeginsAgain() throws Exception {
    LockOptions longTimeout =
        MemberServers.options().commandTimeout(Duration.ofSeconds(15)).build();
    LockClient slow = servers.client(servers.proxy(1).uri(), longTimeout);
    new RedisLock(slow, servers.name(1) + ":warm").tryAcquire().orElseThrow().close();
    MultiLock lock = new MultiLock(servers.lock(0), new RedisLock(slow, servers.name(1)));
    servers.proxy(1).delay(Duration.ofMillis(600)); // a round trip is more than a tenth of 8 s
    AsyncCall<Lease> caller =
        AsyncCall.start(() -> lock.acquire(LIVENESS, Duration.ofSeconds(8)).orElseThrow());
    Eventually.until("the first member is held", () -> servers.isHeld(0));

    assertTrue(servers.other(0).forceUnlock());

    Lease held = caller.get();
    held.ensureValid();
    assertEquals(Set.of(0, 1), servers.held());
    held.close();
  }

  /** An attempt without a wait: one with a wait would give up the member, and begin again. */
  @Test
  void aMemberThatIsLostWhileTheLastOneIsAcquiredIsNoHold() throws Exception {
    LockOptions longTimeout =
        MemberServers.options().commandTimeout(Duration.ofSeconds(15)).build();
    LockClient slow = servers.client(servers.proxy(1).uri(), longTimeout);
    new RedisLock(slow, servers.name(1) + ":warm").tryAcquire().orElseThrow().close();
    MultiLock lock = new MultiLock(servers.lock(0), new RedisLock(slow, servers.name(1)));
    servers.proxy(1).delay(Duration.ofSeconds(1));
    AsyncCall<Boolean> caller =
        AsyncCall.start(() -> lock.withLease(Duration.ofSeconds(8)).tryAcquire().isPresent());
    Eventually.until("the first member is held", () -> servers.isHeld(0));

    assertTrue(servers.other(0).forceUnlock());

    LockException thrown = assertThrows(LockException.class, caller::get);
    assertTrue(thrown.getMessage().contains("a member was lost"), thrown::getMessage);
    servers.awaitHeld(Set.of());
  }

  @Test
  void aReentryWithALongerLeaseExtendsAllMembers() throws Exception {
    MultiLock lock = servers.multi();
    lock.withLease(Duration.ofSeconds(5)).lock();
    assertTrue(lock.tryLock(Duration.ZERO, Duration.ofMinutes(1)));
    for (int i = 0; i < 2; i++) {
      assertTrue(servers.ttlMillis(i) > 30_000, "extended");
    }
    assertTrue(lock.lease().remaining().compareTo(Duration.ofSeconds(30)) > 0);
    lock.unlock();
    lock.lease().ensureValid();
    lock.unlock();
    assertEquals(Set.of(), servers.held());
  }

  @Test
  void aShorterLeaseShortensNoMemberThatThisThreadHolds() throws Exception {
    servers.lock(0).withLease(Duration.ofMinutes(1)).lock();
    assertTrue(servers.multi().tryLock(Duration.ZERO, Duration.ofSeconds(5)));
    assertTrue(servers.ttlMillis(0) > 30_000);
    assertTrue(servers.ttlMillis(1) <= 5_000);
    servers.multi().unlock();
    assertTrue(servers.ttlMillis(0) > 30_000);
    servers.lock(0).unlock();
  }

  @Test
  void withoutItEachMemberHasTheLeaseOfItsClientAndIsRenewed() {
    LockOptions longer = MemberServers.options().lease(Duration.ofSeconds(30)).build();
    LockOptions shorter = MemberServers.options().lease(Duration.ofSeconds(4)).build();
    LockClient slow = servers.client(servers.server(0).uri(), longer);
    LockClient quick = servers.client(servers.server(1).uri(), shorter);
    MultiLock lock =
        new MultiLock(new RedisLock(slow, servers.name(0)), new RedisLock(quick, servers.name(1)));
    Lease lease = lock.tryAcquire().orElseThrow();
    assertTrue(servers.ttlMillis(0) > 4_000);
    assertTrue(servers.ttlMillis(1) <= 4_000);
    assertTrue(lease.remaining().compareTo(Duration.ofSeconds(4)) < 0, "the shortest counts");
    Eventually.holdsFor(Duration.ofSeconds(5), "renewed", lease::isValid);
    lease.close();
    assertEquals(Set.of(), servers.held());
    assertFalse(lease.isValid());
  }

  @Test
  void theRemainingLeaseIsThatOfTheMemberThatIsHeldLongest() {
    for (int i = 0; i < 2; i++) {
      servers.holdAsStranger(i);
    }
    servers.server(1).command("PEXPIRE", servers.name(1), "1200000");

    long left = servers.multi().remainingLease().orElseThrow().toMinutes();

    assertTrue(left > 10 && left <= 20, () -> left + " min");
    for (int i = 0; i < 2; i++) {
      servers.releaseAsStranger(i);
    }
  }
}
