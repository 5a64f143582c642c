package io.mortise.testkit;

import static io.mortise.testkit.ContractTimings.LONG;
import static io.mortise.testkit.ContractTimings.SHORT;
import static io.mortise.testkit.ContractTimings.SLACK;
import static io.mortise.testkit.ContractTimings.assertLeft;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLostException;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * The contract of an exclusive {@link DistributedLock} about its short forms: the view with a fixed
 * lease, {@code withLock}, {@code acquire()}, {@code releaseAsync()}.
 *
 * <p>Extend it as {@link LockContract}.
 */
@SuppressWarnings("LockNotBeforeTry") // the tests are about the order of holds
public abstract class ShortFormsContract extends AbstractLockContract {
  /** For subclasses. */
  protected ShortFormsContract() {}

  // ---- the view with a fixed lease

  @Test
  protected void aViewWithALeaseIsTheSameLock() {
    assertSameLock(lock.withLease(LONG));
    assertFalse(lock.isLocked());
  }

  @Test
  protected void eachAcquisitionOfAViewHasItsLease() throws Exception {
    DistributedLock view = lock.withLease(LONG);

    view.lockInterruptibly();
    assertLeft(LONG, lock.lease().remaining());
    view.unlock();
    assertTrue(view.tryLock());
    assertLeft(LONG, lock.lease().remaining());
    view.unlock();
    assertTrue(view.tryLock(SLACK));
    assertLeft(LONG, lock.lease().remaining());
    view.unlock();
    try (Lease held = view.tryAcquire().orElseThrow()) {
      assertLeft(LONG, held.remaining());
    }
    try (Lease held = view.acquire()) {
      assertLeft(LONG, held.remaining());
    }
    try (Lease held = view.acquire(SLACK).orElseThrow()) {
      assertLeft(LONG, held.remaining());
    }
    try (Lease held = view.acquireAsync(SLACK).toCompletableFuture().join().orElseThrow()) {
      assertLeft(LONG, held.remaining());
    }
  }

  @Test
  protected void aLeaseBesideAWaitCountsMoreThanThatOfTheView() throws Exception {
    DistributedLock view = lock.withLease(SHORT);

    try (Lease held = view.acquire(SLACK, LONG).orElseThrow()) {
      assertLeft(LONG, held.remaining());
    }
    assertTrue(view.tryLock(SLACK, LONG));
    assertLeft(LONG, lock.lease().remaining());
    view.unlock();
  }

  @Test
  protected void theFormOfRedissonHasItsOrderOfArguments() throws Exception {
    assertTrue(lock.tryLock(SLACK.toMillis(), LONG.toMillis(), TimeUnit.MILLISECONDS));
    assertLeft(LONG, lock.lease().remaining());
    lock.unlock();
    assertTrue(lock.tryLock(0, -1, TimeUnit.MILLISECONDS), "renewed");
    assertTrue(lock.lease().remaining().compareTo(LONG) < 0);
    lock.unlock();
  }

  // ---- with the lock held

  @Test
  protected void theBodyRunsWhileTheThreadHoldsTheLock() throws Exception {
    Runnable body = () -> assertEquals(1, lock.holdCount());
    Callable<String> call = () -> "held " + lock.holdCount();

    lock.withLock(body);
    assertEquals("held 1", lock.withLock(call));
    assertNull(lock.<Object>withLock(() -> null));
    long token = lock.withLock(Lease::fencingToken);

    assertTrue(token > 0);
    assertEquals(0, lock.holdCount());
    assertTrue(actor.ask(other::tryLock));
    actor.run(other::unlock);
  }

  @Test
  protected void whatTheBodyThrowsIsThrownAndTheLockIsReleased() {
    IOException checked = new IOException("on purpose");
    Error error = new AssertionError("on purpose");

    assertSame(
        checked,
        assertThrows(
            IOException.class,
            () ->
                lock.withLock(
                    lease -> {
                      throw checked;
                    })));
    Runnable failing =
        () -> {
          throw error;
        };
    assertSame(error, assertThrows(AssertionError.class, () -> lock.withLock(failing)));
    assertFalse(lock.isLocked());
  }

  @Test
  protected void aLossDuringTheBodyIsThrownUnlessTheBodyThrows() {
    Runnable loses = other::forceUnlock;
    IllegalStateException failure = new IllegalStateException("on purpose");
    Runnable losesAndFails =
        () -> {
          other.forceUnlock();
          throw failure;
        };

    assertThrows(LeaseLostException.class, () -> lock.withLock(loses));
    assertSame(
        failure, assertThrows(IllegalStateException.class, () -> lock.withLock(losesAndFails)));
    assertInstanceOf(LeaseLostException.class, failure.getSuppressed()[0]);
    assertEquals(0, lock.holdCount());
  }

  @Test
  protected void aBodyDoesNotRunWhenTheLockIsBusyForTheWholeWait() throws Exception {
    Runnable body = () -> assertEquals(1, lock.holdCount());
    Runnable never = () -> fail("the lock is busy");

    assertTrue(lock.tryWithLock(Duration.ZERO, body));
    assertEquals(
        Optional.of("held 1"), lock.tryWithLock(LONG, lease -> "held " + lock.holdCount()));
    actor.run(other::lock);
    assertFalse(lock.tryWithLock(SHORT, never));
    assertEquals(Optional.empty(), lock.tryWithLock(Duration.ZERO, Lease::fencingToken));
    actor.run(other::unlock);

    assertEquals(0, lock.holdCount());
    assertFalse(lock.isLocked());
  }

  // ---- handles

  @Test
  protected void acquireWaitsUntilTheLockIsFree() throws Exception {
    assertWakes(
        () -> {
          lock.withLease(LONG).lock();
          Future<Lease> waiter = actor.start(() -> other.acquire());
          Duration took = timeToWake(waiter, lock::unlock);
          try (Lease held = TestThread.result(waiter)) {
            assertTrue(held.isValid());
          }
          return took;
        });
  }

  @Test
  protected void anInterruptEndsAcquire() throws Exception {
    lock.lock();
    Future<Lease> waiter = actor.start(() -> other.acquire());
    actor.awaitBlocked();
    actor.interrupt();

    assertThrows(InterruptedException.class, () -> TestThread.result(waiter));
    lock.unlock();
    assertFalse(lock.isLocked());
  }

  @Test
  protected void aHandleIsReleasedWithoutBlocking() throws Exception {
    Lease held = lock.acquire();

    held.releaseAsync().toCompletableFuture().get(SLACK.toSeconds(), TimeUnit.SECONDS);

    assertEquals(State.RELEASED, held.state());
    assertTrue(other.tryLock());
    other.unlock();
    held.releaseAsync().toCompletableFuture().get(SLACK.toSeconds(), TimeUnit.SECONDS);
    held.close();
  }

  @Test
  protected void theStageOfAReleaseTellsOfALoss() throws Exception {
    Lease held = lock.acquire();
    other.forceUnlock();

    CompletionException thrown =
        assertThrows(
            CompletionException.class, () -> held.releaseAsync().toCompletableFuture().join());

    assertInstanceOf(LeaseLostException.class, thrown.getCause());
    assertEquals(State.LOST, held.state());
  }

  @Test
  protected void theHoldOfAThreadIsReleasedByUnlockOnly() {
    lock.lock();

    assertTrue(lock.lease().releaseAsync().toCompletableFuture().isCompletedExceptionally());

    assertTrue(lock.isHeldByCurrentThread());
    lock.unlock();
  }
}
