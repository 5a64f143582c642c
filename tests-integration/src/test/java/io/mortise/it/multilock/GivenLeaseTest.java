package io.mortise.it.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
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

/** Leases that the caller gives, and those of clients with settings of their own. */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // who holds what, when, is what is tested
class GivenLeaseTest {
  @RegisterExtension static final MemberServers sites = new MemberServers(2);

  @Test
  void itIsThatOfEachMemberAndNobodyRenewsIt() throws Exception {
    Lease lease =
        sites.multi().acquire(MemberServers.LIVENESS, Duration.ofSeconds(3)).orElseThrow();
    List<LeaseLoss> told = new CopyOnWriteArrayList<>();
    lease.onLost(told::add);
    for (int i = 0; i < 2; i++) {
      long ttl = sites.ttlMillis(i);
      assertTrue(ttl > 0 && ttl <= 3_000, () -> ttl + " ms");
    }
    assertTrue(lease.remaining().compareTo(Duration.ofSeconds(3)) < 0);
    Eventually.until("it is told", () -> !told.isEmpty());
    assertEquals(Reason.EXPIRED, told.get(0).reason());
    sites.awaitHeld(Set.of());
    assertThrows(LeaseLostException.class, lease::close);
    assertEquals(1, told.size());
    sites.awaitIdle();
  }

  @Test
  void itMayBeShorterThanTheWaitForAMember() throws Exception {
    Duration lease = Duration.ofSeconds(1);
    sites.holdAsStranger(1);
    AsyncCall<Duration> waiter =
        AsyncCall.start(
            () -> {
              Lease held = sites.multi().acquire(MemberServers.LIVENESS, lease).orElseThrow();
              Duration left = held.remaining();
              held.ensureValid();
              held.close();
              return left;
            });
    Eventually.holdsFor(Duration.ofSeconds(3), "it waits", () -> !waiter.isDone());
    sites.releaseAsStranger(1);
    Duration left = waiter.get();
    assertTrue(left.compareTo(Duration.ZERO) > 0 && left.compareTo(lease) < 0, left::toString);
    sites.awaitHeld(Set.of());
    sites.awaitIdle();
  }

  @Test
  void itBeginsWhenTheLastMemberHasBeenTaken() throws Exception {
    Duration lease = Duration.ofSeconds(10);
    LockOptions patient = MemberServers.options().commandTimeout(Duration.ofSeconds(15)).build();
    try (LockClient slow = LockClient.create(sites.proxy(1).uri(), patient)) {
      new RedisLock(slow, sites.name(1) + ":warm").tryAcquire().orElseThrow().close();
      MultiLock lock = new MultiLock(sites.lock(0), new RedisLock(slow, sites.name(1)));
      // The token of the slow one has to be raised: so much later is it when all is done.
      sites
          .server(0)
          .command("SET", MemberServers.tokenKey(sites.name(0)), Long.toString(1L << 52));
      sites.proxy(1).delay(Duration.ofMillis(800));
      Lease held = lock.tryAcquire(lease).orElseThrow();
      long ttl = sites.ttlMillis(0);
      System.out.println("lease of 10 s after 3.2 s on the way: " + ttl + " ms");
      assertTrue(ttl > 7_600, () -> ttl + " ms are left of 10 s; 3.2 s were gone before");
      assertTrue(held.remaining().compareTo(Duration.ofSeconds(7)) > 0);
      sites.proxy(1).restore();
      held.close();
    }
  }

  @Test
  void aReentryWithALongerOneLengthensAllMembers() throws Exception {
    MultiLock lock = sites.multi();
    lock.lock(Duration.ofSeconds(5));
    assertTrue(lock.tryLock(Duration.ZERO, Duration.ofMinutes(1)));
    for (int i = 0; i < 2; i++) {
      assertTrue(sites.ttlMillis(i) > 30_000, "lengthened");
    }
    assertTrue(lock.lease().remaining().compareTo(Duration.ofSeconds(30)) > 0);
    lock.unlock();
    lock.lease().ensureValid();
    lock.unlock();
    assertEquals(Set.of(), sites.held());
  }

  @Test
  void aShorterOneShortensNoMemberThatThisThreadHolds() throws Exception {
    sites.lock(0).lock(Duration.ofMinutes(1));
    assertTrue(sites.multi().tryLock(Duration.ZERO, Duration.ofSeconds(5)));
    assertTrue(sites.ttlMillis(0) > 30_000);
    assertTrue(sites.ttlMillis(1) <= 5_000);
    sites.multi().unlock();
    assertTrue(sites.ttlMillis(0) > 30_000);
    sites.lock(0).unlock();
  }

  @Test
  void withoutOneEachMemberHasThatOfItsClientAndIsRenewed() {
    LockOptions other = MemberServers.options().lease(Duration.ofMillis(1500)).build();
    try (LockClient quick = LockClient.create(sites.server(1).uri(), other)) {
      MultiLock lock = new MultiLock(sites.lock(0), new RedisLock(quick, sites.name(1)));
      Lease lease = lock.tryAcquire().orElseThrow();
      assertTrue(sites.ttlMillis(0) > 1_500);
      assertTrue(sites.ttlMillis(1) <= 1_500);
      assertTrue(lease.remaining().compareTo(Duration.ofMillis(1500)) < 0, "the weakest counts");
      Eventually.holdsFor(Duration.ofSeconds(3), "renewed", lease::isValid);
      lease.close();
      assertEquals(Set.of(), sites.held());
      assertFalse(lease.isValid());
    }
  }
}
