package io.mortise.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

/** The answers and refusals of a lock that need no server: none runs. */
class RedisLockTest {
  private static final String NOBODY = "redis://127.0.0.1:1";
  private static final Duration NEGATIVE = Duration.ofMillis(-1);

  private final LockClient client = LockClient.create(NOBODY);
  private final DistributedLock lock = new RedisLock(client, "orders");

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void aConditionIsRefusedWithTheReason() {
    assertEquals(
        "lock 'orders': a condition that reaches other processes is not available; wait for the"
            + " change where the data is, and lock again",
        assertThrows(UnsupportedOperationException.class, lock::newCondition).getMessage());
  }

  @Test
  void theClientSaysWhichItIs() {
    assertEquals("LockClient " + client.id() + " of 127.0.0.1:1", client.toString());
    client.close();
    assertEquals("LockClient " + client.id() + " of 127.0.0.1:1, closed", client.toString());
  }

  @Test
  void twoObjectsOfOneNameAndClientAreOneLock() {
    RedisLock same = new RedisLock(client, "orders");

    assertEquals(lock, same);
    assertEquals(lock.hashCode(), same.hashCode());
    assertNotEquals(lock, new RedisLock(client, "Orders"));
    try (LockClient other = LockClient.create(NOBODY)) {
      assertNotEquals(lock, new RedisLock(other, "orders"));
    }
  }

  @Test
  void aClientHasAShortFormForThePlainLock() {
    assertEquals(lock, client.lock("orders"));
  }

  @Test
  void aViewSaysItsLease() {
    assertEquals(lock + " with a lease of PT1M", lock.withLease(Duration.ofMinutes(1)).toString());
  }

  @Test
  void invalidTimesAreRefused() {
    List<Executable> calls =
        List.of(
            () -> lock.withLease(Duration.ZERO).lock(),
            () -> lock.withLease(NEGATIVE).lockInterruptibly(),
            () -> lock.tryLock(Duration.ZERO, NEGATIVE),
            () -> lock.withLease(Duration.ofNanos(1)).tryAcquire(),
            () -> lock.acquire(Duration.ZERO, Duration.ZERO),
            () -> lock.acquireAsync(Duration.ZERO, Duration.ofDays(366)));
    for (Executable call : calls) {
      String message = assertThrows(IllegalArgumentException.class, call).getMessage();
      assertTrue(message.startsWith("a lease must be"), message);
    }
  }

  @Test
  void aThreadThatNeverHeldTheLockIsNamedSo() {
    String thread = Thread.currentThread().getName();
    String expected =
        "lock 'orders': thread '"
            + thread
            + "' does not hold it: it has never locked it; a thread unlocks what it has locked"
            + " itself, and a Lease is closed";

    assertEquals(
        expected, assertThrows(IllegalMonitorStateException.class, lock::unlock).getMessage());
    assertEquals(
        expected, assertThrows(IllegalMonitorStateException.class, lock::lease).getMessage());
    assertEquals(0, lock.holdCount());
  }

  @Test
  void withoutAServerTryLockThrowsInsteadOfReturningFalse() {
    for (Executable call :
        List.<Executable>of(lock::tryLock, () -> lock.tryLock(0, TimeUnit.SECONDS))) {
      LockException thrown = assertThrows(LockException.class, call);
      assertEquals(LockException.Reason.UNREACHABLE, thrown.reason());
      assertTrue(thrown.getMessage().startsWith("lock 'orders': "), thrown.getMessage());
    }
    assertEquals(0, client.status().contended());
  }

  @Test
  void aClosedClientSaysSo() {
    client.close();
    client.close();

    LockException thrown = assertThrows(LockException.class, lock::lock);
    assertEquals(LockException.Reason.CLIENT_CLOSED, thrown.reason());
    assertEquals("lock 'orders': its client was closed", thrown.getMessage());
    assertTrue(client.isClosed());
  }
}
