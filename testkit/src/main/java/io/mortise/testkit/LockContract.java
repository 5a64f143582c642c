package io.mortise.testkit;

import static io.mortise.testkit.ContractTimings.LONG;
import static io.mortise.testkit.ContractTimings.assertLeft;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LeaseLostException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;

/**
 * The contract of an exclusive {@link DistributedLock} as a {@link
 * java.util.concurrent.locks.Lock}: exclusion, owners, arguments, contention. {@link WaitContract}
 * has waits and interrupts, {@link LeaseContract} leases and handles.
 *
 * <p>Extend it once for each family of locks and each way of running Redis; see {@link LockFamily}.
 * Each test uses its own name. A family that differs in one point on purpose overrides that test
 * and says why.
 */
@SuppressWarnings("LockNotBeforeTry") // the tests are about the order of holds
public abstract class LockContract extends AbstractLockContract {
  /** For subclasses. */
  protected LockContract() {}

  // ---- exclusion and owners

  @Test
  protected void excludesTheThreadsOfOneClient() throws Exception {
    lock.lock();
    assertFalse(actor.ask(lock::tryLock));
    lock.unlock();
    assertTrue(actor.ask(lock::tryLock));
    assertFalse(lock.tryLock());
    actor.run(lock::unlock);
  }

  @Test
  protected void excludesOtherClients() throws Exception {
    lock.lock();
    assertFalse(other.tryLock());
    assertFalse(actor.ask(other::tryLock));
    lock.unlock();
    assertTrue(actor.ask(other::tryLock));
    assertFalse(lock.tryLock());
    actor.run(other::unlock);
    assertTrue(lock.tryLock());
    lock.unlock();
  }

  @Test
  protected void isReleasedWithTheLastOfItsHolds() throws Exception {
    lock.lock();
    lock.lockInterruptibly();
    assertTrue(lock.tryLock());
    assertTrue(lock.tryLock(LONG));
    assertTrue(lock.tryLock(1, SECONDS));
    for (int count = 5; count > 0; count--) {
      assertEquals(count, lock.holdCount());
      assertTrue(lock.isHeldByCurrentThread());
      assertFalse(other.tryLock());
      lock.unlock();
    }
    assertEquals(0, lock.holdCount());
    assertFalse(lock.isHeldByCurrentThread());
    assertTrue(other.tryLock());
    other.unlock();
  }

  @Test
  protected void twoObjectsOfOneNameAndClientAreOneLock() {
    DistributedLock twin = lock(name);
    lock.lock();
    assertTrue(twin.tryLock());
    assertEquals(2, lock.holdCount());
    twin.unlock();
    twin.unlock();
    assertFalse(lock.isLocked());
  }

  @Test
  protected void whoNeverHeldItCannotUnlockIt() throws Exception {
    assertRefusal("never", lock::unlock);
    other.lock();
    assertRefusal("never", lock::unlock);
    assertRefusal("never", () -> actor.run(other::unlock));
    assertTrue(other.isHeldByCurrentThread());
    assertFalse(actor.ask(lock::tryLock));
    other.unlock();
  }

  @Test
  protected void whoHasReleasedItCannotUnlockItAgain() throws Exception {
    lock.lock();
    lock.unlock();
    assertRefusal("released", lock::unlock);
    other.lock();
    assertRefusal("released", lock::unlock);
    assertFalse(actor.ask(lock::tryLock));
    other.unlock();
  }

  private void assertRefusal(String why, Executable unlock) {
    var refusal = assertThrows(IllegalMonitorStateException.class, unlock);
    String message = String.valueOf(refusal.getMessage());
    assertTrue(message.contains(why), message);
    assertTrue(message.contains(name), message);
    assertFalse(refusal instanceof LeaseLostException, message);
  }

  @Test
  protected void answersWhetherAndForHowLongItIsHeld() throws Exception {
    assertEquals(nameOf(name), lock.name());
    assertFalse(lock.isLocked());
    assertTrue(lock.remainingLease().isEmpty());
    lock.withLease(LONG).lock();
    assertTrue(lock.isLocked());
    assertTrue(other.isLocked());
    assertFalse(other.isHeldByCurrentThread());
    assertEquals(0, other.holdCount());
    assertFalse(actor.ask(lock::isHeldByCurrentThread));
    assertEquals(0, actor.call(lock::holdCount));
    assertLeft(LONG, other.remainingLease().orElseThrow());
    lock.unlock();
    assertFalse(other.isLocked());
  }

  @Test
  protected void conditionsAreNotSupported() {
    assertThrows(UnsupportedOperationException.class, lock::newCondition);
  }

  @Test
  protected void badArgumentsAreRefusedAtTheDoor() throws Exception {
    List<Executable> calls = new ArrayList<>();
    for (String wrong : List.of("PT0S", "PT-1S", "PT0.000999999S", "P366D")) {
      Duration lease = Duration.parse(wrong);
      calls.add(() -> lock.withLease(lease).lock());
      calls.add(() -> lock.withLease(lease).lockInterruptibly());
      calls.add(() -> lock.tryLock(Duration.ZERO, lease));
      calls.add(() -> lock.withLease(lease).tryAcquire());
      calls.add(() -> lock.acquire(Duration.ZERO, lease));
      calls.add(() -> lock.acquireAsync(Duration.ZERO, lease));
    }
    calls.add(() -> lock.tryLock(1, 0, SECONDS));
    calls.add(() -> lock.tryLock(1, -2, SECONDS));
    calls.forEach(call -> assertThrows(IllegalArgumentException.class, call));
    assertFalse(lock.isLocked());
  }

  @Test
  protected void aNegativeWaitIsOneAttempt() throws Exception {
    Duration negative = Duration.ofMillis(-1);
    actor.run(other::lock);
    assertFalse(lock.tryLock(-1, SECONDS));
    assertFalse(lock.tryLock(-1, -1, SECONDS));
    assertFalse(lock.tryLock(negative));
    assertFalse(lock.tryLock(negative, LONG));
    assertTrue(lock.acquire(negative).isEmpty());
    assertTrue(lock.acquire(negative, LONG).isEmpty());
    assertTrue(lock.acquireAsync(negative).toCompletableFuture().join().isEmpty());
    assertTrue(lock.acquireAsync(negative, LONG).toCompletableFuture().join().isEmpty());
    actor.run(other::unlock);

    assertTrue(lock.tryLock(-1, SECONDS));
    assertTrue(lock.tryLock(Long.MAX_VALUE, SECONDS), "longer than any wait");
    assertTrue(lock.tryLock(Duration.ofSeconds(Long.MAX_VALUE)), "longer than any wait");
    for (int i = 0; i < 3; i++) {
      lock.unlock();
    }
  }

  // ---- contention

  @Test
  protected void noIncrementIsLostAmongTheThreadsOfTwoClients(@TempDir Path logs) throws Exception {
    Contention.countTogether(lock, other, logs);
  }

  @Test
  protected void whatWasDoneBeforeUnlockIsSeenAfterLock() throws Exception {
    Contention.countWithoutVolatile(lock);
  }

  @Test
  protected void manyNamesAreHeldAtOnce() throws Exception {
    Contention.holdManyNames(this, name);
  }
}
