package io.mortise.testkit;

import static io.mortise.testkit.ContractTimings.LONG;
import static io.mortise.testkit.ContractTimings.SHORT;
import static io.mortise.testkit.ContractTimings.SLACK;
import static io.mortise.testkit.ContractTimings.answered;
import static io.mortise.testkit.ContractTimings.assertLeft;
import static io.mortise.testkit.ContractTimings.assertTakes;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLostException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/**
 * The contract of an exclusive {@link DistributedLock} about holds with a minimum, which keep the
 * lock busy although they are released earlier.
 *
 * <p>Extend it as {@link LockContract}.
 */
@SuppressWarnings("LockNotBeforeTry") // the tests are about the order of holds
public abstract class AtLeastContract extends AbstractLockContract {
  /** A minimum that a test waits for; longer than the machine is late in a few commands. */
  private static final Duration MINIMUM = Duration.ofSeconds(1);

  /** A lease and a minimum; the answer to an attempt on a busy machine does not take as long. */
  private static final Duration RUNS_OUT = Duration.ofSeconds(3);

  /** For subclasses. */
  protected AtLeastContract() {}

  /** Asserts that nobody can acquire the lock, and ends that. */
  private void assertKeptAndForce() throws Exception {
    assertFalse(actor.ask(other::tryLock), "another process");
    assertFalse(lock.tryLock(), "the thread that has released it");
    assertTrue(lock.isLocked());
    assertTrue(other.forceUnlock());
    assertTrue(actor.ask(other::tryLock), "a forced release ends the rest");
    actor.run(other::unlock);
  }

  private static void awaitEndOf(Duration time, long sinceNanos) {
    Await.until(
        "the time is over", () -> System.nanoTime() - sinceNanos > time.toNanos(), () -> "");
  }

  @Test
  protected void aViewWithAMinimumIsTheSameLock() throws Exception {
    assertSameLock(lock.atLeast(LONG));
    assertKeptAndForce();
  }

  @Test
  protected void aReleasedHoldKeepsOthersOutForTheRestOfItsMinimum() throws Exception {
    DistributedLock view = lock.atLeast(LONG);
    view.lock();
    Lease lease = lock.lease();

    view.unlock();

    assertFalse(lock.isHeldByCurrentThread());
    assertEquals(0, lock.holdCount());
    assertEquals(State.RELEASED, lease.state());
    assertEquals(Optional.empty(), lease.loss());
    assertLeft(LONG, other.remainingLease().orElseThrow());
    assertThrows(IllegalMonitorStateException.class, view::unlock);
    assertKeptAndForce();
  }

  @Test
  protected void theLockIsFreeAfterTheMinimumWithoutARelease() throws Exception {
    DistributedLock view = lock.atLeast(MINIMUM);

    assertTakes(
        MINIMUM,
        () -> {
          view.lock();
          view.unlock();
          assertTrue(actor.ask(() -> other.tryLock(LONG)));
        });
    actor.run(other::unlock);
  }

  @Test
  protected void aWaiterLearnsThatTheLockEndsWithTheMinimumAndNotWithTheLease() throws Exception {
    assertGrantedAfterTheMinimum(lock.withLease(LONG).atLeast(MINIMUM), other);
  }

  @Test
  protected void aThreadOfTheSameProcessDoesNotGetTheLockBeforeTheMinimum() throws Exception {
    assertGrantedAfterTheMinimum(lock.atLeast(MINIMUM), lock);
  }

  /** Asserts that a waiter, which waits during the release of the view, is granted the lock. */
  private void assertGrantedAfterTheMinimum(DistributedLock view, DistributedLock waiters)
      throws Exception {
    assertTakes(
        MINIMUM,
        () -> {
          view.lock();
          Future<Boolean> waiter = actor.start(() -> waiters.tryLock(LONG));
          actor.awaitBlocked();
          view.unlock();
          assertTrue(TestThread.result(waiter));
        });
    actor.run(waiters::unlock);
  }

  @Test
  protected void aReleaseAfterTheMinimumFreesTheLock() throws Exception {
    DistributedLock view = lock.withLease(LONG).atLeast(SHORT);
    view.lock();
    awaitEndOf(SHORT, System.nanoTime());

    view.unlock();

    assertTrue(actor.ask(other::tryLock));
    actor.run(other::unlock);
  }

  @Test
  protected void everyFormOfAcquisitionAndReleaseKeepsTheMinimum() throws Exception {
    DistributedLock view = lock.atLeast(LONG);

    view.lockInterruptibly();
    view.unlock();
    assertKeptAndForce();
    assertTrue(view.tryLock());
    view.unlock();
    assertKeptAndForce();
    assertTrue(view.tryLock(SLACK, LONG.multipliedBy(2)));
    view.unlock();
    assertKeptAndForce();
    view.withLock(() -> {});
    assertKeptAndForce();
    view.tryAcquire().orElseThrow().close();
    assertKeptAndForce();
    view.acquire().close();
    assertKeptAndForce();
    view.acquire(SLACK).orElseThrow().close();
    assertKeptAndForce();
    view.acquireAsync(SLACK).toCompletableFuture().join().orElseThrow().close();
    assertKeptAndForce();
    Lease held = view.acquire();
    held.releaseAsync().toCompletableFuture().get(SLACK.toSeconds(), TimeUnit.SECONDS);
    assertEquals(State.RELEASED, held.state());
    assertKeptAndForce();
  }

  @Test
  protected void theMinimumOfEveryLevelCounts() throws Exception {
    lock.lock();
    lock.atLeast(LONG).lock();
    lock.atLeast(SHORT).lock();
    lock.unlock();
    lock.unlock();
    assertTrue(lock.isHeldByCurrentThread());
    lock.unlock();

    assertLeft(LONG, other.remainingLease().orElseThrow());
    assertKeptAndForce();
  }

  @Test
  protected void viewsCombineInAnyOrder() throws Exception {
    lock.atLeast(LONG).withLease(LONG).lock();
    assertLeft(LONG, lock.lease().remaining());
    lock.unlock();
    assertKeptAndForce();
    lock.atLeast(LONG).atLeast(Duration.ZERO).lock();
    lock.unlock();
    assertFalse(lock.isLocked(), "zero is no minimum");
  }

  @Test
  protected void aLeaseThatIsMeantToRunOutIsNoLoss() throws Exception {
    AtomicBoolean lost = new AtomicBoolean();

    assertTakes(
        RUNS_OUT,
        () -> {
          Lease held = lock.withLease(RUNS_OUT).atLeast(RUNS_OUT).tryAcquire().orElseThrow();
          held.onLost(loss -> lost.set(true));
          held.close();
          assertTrue(actor.ask(() -> other.tryLock(LONG)));
          held.close();
          assertEquals(State.RELEASED, held.state());
          assertEquals(Optional.empty(), held.loss());
        });

    assertFalse(lost.get());
    actor.run(other::unlock);
  }

  @Test
  protected void aLeaseThatRunsOutBeforeTheReleaseIsALoss() throws Exception {
    lock.withLease(SHORT).atLeast(SHORT).lock();
    Lease held = lock.lease();
    awaitEndOf(SHORT, System.nanoTime());

    assertThrows(LeaseLostException.class, lock::unlock);

    assertEquals(State.LOST, held.state());
  }

  @Test
  protected void anAttemptThatFailsKeepsNothing() throws Exception {
    assertTrue(actor.ask(other::tryLock));
    assertFalse(lock.atLeast(LONG).tryLock());
    assertFalse(answered(() -> lock.atLeast(LONG).tryLock(SHORT)));
    assertEquals(Optional.empty(), lock.atLeast(LONG).tryAcquire());
    actor.run(other::unlock);

    assertNothingLeft();
    assertFalse(lock.isLocked());
  }

  @Test
  protected void aMinimumOutOfRangeIsRefused() {
    Duration day = Duration.ofDays(1);

    assertRefused(() -> lock.atLeast(Duration.ofNanos(-1)));
    assertRefused(() -> lock.atLeast(day.multipliedBy(366)));
    assertRefused(() -> lock.withLease(SHORT).atLeast(LONG));
    assertRefused(() -> lock.atLeast(LONG).withLease(SHORT));
    assertRefused(() -> lock.atLeast(LONG).tryLock(Duration.ZERO, SHORT));
    assertRefused(() -> lock.atLeast(LONG).acquire(Duration.ZERO, SHORT));
    assertFalse(lock.isLocked());
  }

  private static void assertRefused(TestThread.Action action) {
    assertThrows(IllegalArgumentException.class, action::run);
  }
}
