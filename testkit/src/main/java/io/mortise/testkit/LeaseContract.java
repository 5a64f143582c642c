package io.mortise.testkit;

import static io.mortise.testkit.ContractTimings.LONG;
import static io.mortise.testkit.ContractTimings.SHORT;
import static io.mortise.testkit.ContractTimings.SLACK;
import static io.mortise.testkit.ContractTimings.answered;
import static io.mortise.testkit.ContractTimings.assertLeft;
import static io.mortise.testkit.ContractTimings.assertTakes;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

/**
 * The contract of an exclusive {@link DistributedLock} about its leases: their ends, renewal and
 * loss, fencing tokens, handles. {@link LockContract} has exclusion, {@link WaitContract} waiting.
 *
 * <p>Extend it as {@link LockContract}. It needs clients with a short default lease: see {@link
 * LockFamily#lease()}.
 */
@SuppressWarnings("LockNotBeforeTry") // the tests are about the order of holds
public abstract class LeaseContract extends AbstractLockContract {
  private static final int MOST_TRIES = 3;

  /** For subclasses. */
  protected LeaseContract() {}

  // ---- the end of a lease

  @Test
  protected void aGivenLeaseEndsByItselfAndTheLateUnlockHarmsNobody() throws Exception {
    assertTakes(
        keepsOthersOut(SHORT),
        () -> {
          lock.withLease(SHORT).lock();
          assertTrue(other.tryLock(SLACK), "nobody renews it");
        });

    assertLost(Reason.EXPIRED, lock::lock);
    assertFalse(lock.isHeldByCurrentThread());
    assertEquals(0, lock.holdCount());
    assertLost(Reason.EXPIRED, lock::unlock);
    assertTrue(other.isHeldByCurrentThread());
    assertFalse(actor.ask(lock::tryLock), "the next holder's lock is untouched");
    other.unlock();
    lock.lock();
    lock.unlock();
  }

  /** Holds of all forms, each of a lock of its own, in the time of one. */
  @Test
  protected void aHoldWithoutALeaseIsRenewed() throws Exception {
    Map<String, Lease> held = new LinkedHashMap<>();
    for (RenewedForm form : RenewedForm.ALL) {
      String each = name + ":" + held.size();
      Lease hold = form.acquire(lock(each));
      assertLeft(lease(), hold.remaining()); // with a longer one it would stay held anyway
      held.put(each, hold);
    }

    assertStays(lease().multipliedBy(2), () -> held.values().stream().allMatch(Lease::isValid));
    held.forEach(
        (each, hold) -> {
          assertTrue(otherProcess(each).isLocked(), each);
          if (lock(each).isHeldByCurrentThread()) {
            lock(each).unlock();
          } else {
            hold.close();
          }
          assertFalse(otherProcess(each).isLocked(), each);
        });
  }

  @Test
  protected void aNestedShorterLeaseDoesNotShorten() throws Exception {
    lock.withLease(LONG).lock();
    assertTrue(lock.tryLock(Duration.ZERO, SHORT));
    assertHeldFor(LONG);
    lock.unlock();
    assertHeldFor(LONG);
    lock.unlock();
    assertFalse(other.isLocked());
  }

  @Test
  protected void aNestedLongerLeaseLengthens() {
    lock.withLease(lease()).lock();
    lock.withLease(LONG).lock();
    assertHeldFor(LONG);
    lock.unlock();
    assertTrue(lock.isHeldByCurrentThread());
    lock.unlock();
    assertFalse(other.isLocked());
  }

  private void assertHeldFor(Duration lease) {
    assertLeft(lease, lock.lease().remaining());
    assertLeft(lease, other.remainingLease().orElseThrow());
  }

  @Test
  protected void aNestedHoldWithoutALeaseIsRenewed() {
    lock.withLease(lease()).lock();
    lock.lock();
    assertStays(
        lease().multipliedBy(3).dividedBy(2),
        () -> lock.isHeldByCurrentThread() && other.isLocked());
    lock.unlock();
    lock.unlock();
    assertFalse(other.isLocked());
  }

  private static void assertStays(Duration time, Callable<Boolean> held) {
    await()
        .pollInSameThread()
        .failFast("lost", () -> !held.call())
        .during(time)
        .atMost(time.plus(SLACK))
        .until(held);
  }

  // ---- handles

  @Test
  protected void aHandleSaysWhereItStandsAndIsClosedOnce() throws Exception {
    Lease held = lock.acquire(LONG, LONG).orElseThrow();
    assertEquals(lock.name(), held.lockName());
    assertEquals(Lease.State.HELD, held.state());
    assertTrue(held.isValid());
    held.ensureValid();
    assertTrue(held.loss().isEmpty());
    assertLeft(LONG, held.remaining());

    held.close();
    held.close();
    assertEquals(Lease.State.RELEASED, held.state());
    assertFalse(held.isValid());
    assertEquals(Duration.ZERO, held.remaining());
    var released = assertThrows(IllegalMonitorStateException.class, held::ensureValid);
    assertFalse(released instanceof LeaseLostException);
    try (Lease next = other.tryAcquire().orElseThrow()) {
      held.close();
      next.ensureValid();
      assertTrue(lock.isLocked(), "a handle that is closed again releases nobody else");
    }
  }

  @Test
  protected void aHandleExcludesEverybodyAndBelongsToNoThread() throws Exception {
    Lease held = lock.tryAcquire().orElseThrow();
    assertFalse(lock.isHeldByCurrentThread());
    assertEquals(0, lock.holdCount());
    assertThrows(IllegalMonitorStateException.class, lock::lease);
    assertThrows(IllegalMonitorStateException.class, lock::unlock);
    assertFalse(lock.tryLock());
    assertTrue(lock.tryAcquire().isEmpty());
    assertTrue(lock.withLease(LONG).tryAcquire().isEmpty());
    assertTrue(answered(() -> lock.acquire(SHORT)).isEmpty());
    assertTrue(answered(() -> other.acquire(SHORT, LONG)).isEmpty());
    actor.run(held::close);
    assertTrue(other.tryLock());
    other.unlock();
  }

  @Test
  protected void theHoldOfAThreadIsGivenUpByUnlockOnly() {
    lock.lock();
    Lease held = lock.lease();
    assertEquals(Lease.State.HELD, held.state());
    assertThrows(IllegalMonitorStateException.class, held::close);
    assertTrue(other.isLocked());
    lock.unlock();
    assertEquals(Lease.State.RELEASED, held.state());
  }

  @Test
  protected void tokensRiseFromHolderToHolder() throws Exception {
    long last = 0;
    for (int round = 0; round < 5; round++) {
      for (DistributedLock each : List.of(lock, other)) {
        each.lock();
        long asThread = each.lease().fencingToken();
        each.lock();
        assertEquals(asThread, each.lease().fencingToken(), "re-entry is the same hold");
        each.unlock();
        each.unlock();
        assertTrue(asThread > last, asThread + " after " + last);
        try (Lease handle = each.tryAcquire().orElseThrow()) {
          last = handle.fencingToken();
        }
        assertTrue(last > asThread, last + " after " + asThread);
      }
    }
    assertTrue(last < 1L << 53);
  }

  // ---- loss

  @Test
  protected void anExpiredLeaseTellsItOnce() throws Exception {
    BlockingQueue<LeaseLoss> told = new LinkedBlockingQueue<>();
    BlockingQueue<Lease.State> states = new LinkedBlockingQueue<>();
    Lease held = expiring(told, states);

    LeaseLoss loss = told.take();
    assertEquals(Reason.EXPIRED, loss.reason());
    assertEquals(lock.name(), loss.lockName());
    assertEquals(held.fencingToken(), loss.fencingToken());
    assertEquals(Lease.State.LOST, held.state());
    assertEquals(loss, held.loss().orElseThrow());
    assertEquals(Duration.ZERO, held.remaining());
    assertFalse(held.isValid());
    assertLost(Reason.EXPIRED, held::ensureValid);

    held.onLost(late -> told.add(late));
    assertEquals(loss, told.poll(), "a late listener runs at once");
    assertLost(Reason.EXPIRED, held::close);
    held.close();
    await()
        .atMost(SLACK)
        .untilAsserted(() -> assertEquals(List.of(Lease.State.LOST), List.copyOf(states)));
    assertTrue(told.isEmpty(), "notified once");
    assertTrue(other.tryLock(SLACK));
    other.unlock();
  }

  /**
   * Returns a hold that ends by itself soon. When the machine stands still it may end before its
   * listeners are there: then another one.
   */
  private Lease expiring(BlockingQueue<LeaseLoss> told, BlockingQueue<Lease.State> states)
      throws Exception {
    for (int tries = 0; ; tries++) {
      Lease held = lock.withLease(SHORT).acquire(SLACK).orElseThrow();
      held.onLost(told::add);
      held.onStateChange(states::add);
      if (held.isValid() || tries == MOST_TRIES) {
        return held;
      }
      told.clear();
    }
  }

  @Test
  protected void whoLosesTheLockByForceIsToldSo() throws Exception {
    assertFalse(other.forceUnlock(), "nobody holds it");
    Lease held = lock.tryAcquire().orElseThrow();
    CompletableFuture<LeaseLoss> told = new CompletableFuture<>();
    held.onLost(told::complete);

    assertTrue(other.forceUnlock());
    other.lock();

    assertEquals(Reason.FORCED, TestThread.result(told).reason());
    assertLost(Reason.FORCED, held::close);
    assertTrue(other.isHeldByCurrentThread());
    assertFalse(lock.tryLock(), "the next holder's lock is untouched");
    assertTrue(other.lease().fencingToken() > held.fencingToken());
    other.unlock();
  }

  @Test
  protected void whoTakesItByForceCanHaveItAtOnce() {
    Lease held = lock.withLease(LONG).tryAcquire().orElseThrow();
    assertTrue(lock.forceUnlock());
    try (Lease next = lock.tryAcquire().orElseThrow()) {
      assertTrue(next.fencingToken() > held.fencingToken());
    }
    assertLost(Reason.FORCED, held::close);
  }

  @Test
  protected void whoUnlocksAfterForceIsToldSo() throws Exception {
    lock.withLease(LONG).lock();
    assertTrue(other.forceUnlock());
    assertTrue(other.tryLock());
    assertLost(Reason.FORCED, lock::unlock);
    assertFalse(actor.ask(lock::tryLock));
    other.unlock();
    assertTrue(lock.tryLock());
    assertTrue(lock.forceUnlock(), "also one's own");
    assertLost(Reason.FORCED, lock::unlock);
  }
}
