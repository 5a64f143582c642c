package io.mortise.testkit;

import static io.mortise.testkit.ContractTimings.LONG;
import static io.mortise.testkit.ContractTimings.SHORT;
import static io.mortise.testkit.ContractTimings.SLACK;
import static io.mortise.testkit.ContractTimings.answered;
import static io.mortise.testkit.ContractTimings.assertTakes;
import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/**
 * The contract of an exclusive {@link DistributedLock} about waiting: the ends of waits, wake-ups,
 * interrupts, cancellation.
 *
 * <p>Extend it as {@link LockContract}.
 */
@SuppressWarnings("LockNotBeforeTry") // the tests are about the order of holds
public abstract class WaitContract extends AbstractLockContract {
  /** For subclasses. */
  protected WaitContract() {}

  // ---- waiting

  @Test
  protected void aWaitEndsInTimeAndSaysFalse() throws Exception {
    other.lock();
    assertTakes(SHORT, () -> assertFalse(answered(() -> lock.tryLock(SHORT))));
    assertTakes(
        SHORT, () -> assertFalse(answered(() -> lock.tryLock(SHORT.toMillis(), MILLISECONDS))));
    assertTakes(SHORT, () -> assertFalse(answered(() -> lock.tryLock(SHORT, LONG))));
    assertTakes(Duration.ZERO, () -> assertFalse(lock.tryLock(Duration.ZERO)));
    assertTakes(Duration.ZERO, () -> assertFalse(lock.tryLock(0, SECONDS)));
    assertTakes(SHORT, () -> assertFalse(answered(() -> actor.ask(() -> other.tryLock(SHORT)))));
    other.unlock();
    assertNothingLeft();
  }

  @Test
  protected void aReleaseWakesAWaiterOfAnotherClientLongBeforeTheLeaseEnds() throws Exception {
    assertWakes(
        () -> {
          Duration took = timeToWakeOneOf(other, lock::unlock);
          actor.run(other::unlock);
          return took;
        });
  }

  @Test
  protected void aWaiterOfTheSameClientFollows() throws Exception {
    assertWakes(
        () -> {
          Duration took = timeToWakeOneOf(lock, lock::unlock);
          assertFalse(lock.tryLock());
          actor.run(lock::unlock);
          return took;
        });
  }

  @Test
  protected void forceWakesAWaiter() throws Exception {
    assertWakes(
        () -> {
          Duration took = timeToWakeOneOf(other, () -> assertTrue(lock.forceUnlock()));
          actor.run(other::unlock);
          assertLost(Reason.FORCED, lock::unlock);
          return took;
        });
  }

  private Duration timeToWakeOneOf(DistributedLock waiters, TestThread.Action endOfHold)
      throws Exception {
    lock.withLease(LONG).lock();
    Future<Boolean> waiter = actor.start(() -> waiters.tryLock(LONG));
    Duration took = timeToWake(waiter, endOfHold);
    assertTrue(TestThread.result(waiter));
    return took;
  }

  // ---- interrupts

  @Test
  protected void anInterruptBeforehandEndsAWaitAndNothingIsHeld() throws Exception {
    for (TestThread.Action waiting : interruptibleWaits()) {
      actor.run(
          () -> {
            Thread.currentThread().interrupt();
            assertThrows(InterruptedException.class, waiting::run);
            assertFalse(Thread.interrupted(), "thrown, and so not kept");
            assertFalse(lock.isHeldByCurrentThread());
          });
      assertNothingLeft();
    }
  }

  @Test
  protected void anInterruptEndsAWaitAndNothingIsHeld() throws Exception {
    for (TestThread.Action waiting : interruptibleWaits()) {
      other.lock();
      Future<?> wait = actor.start(() -> assertThrows(InterruptedException.class, waiting::run));
      actor.awaitBlocked();
      actor.interrupt();
      TestThread.result(wait);
      assertFalse(actor.ask(lock::isHeldByCurrentThread));
      other.unlock();
      assertNothingLeft();
    }
  }

  private List<TestThread.Action> interruptibleWaits() {
    return List.of(
        () -> lock.lockInterruptibly(),
        () -> lock.withLease(LONG).lockInterruptibly(),
        () -> lock.tryLock(LONG),
        () -> lock.tryLock(LONG, LONG),
        () -> lock.acquire(LONG),
        () -> lock.acquire(LONG, LONG));
  }

  @Test
  protected void anInterruptInTheLineOfOneClientEndsThatWaitOnly() throws Exception {
    try (TestThread second = new TestThread("second in line")) {
      other.lock();
      Future<Boolean> first = actor.start(() -> lock.tryLock(LONG));
      actor.awaitBlocked();
      Future<?> wait =
          second.start(
              () -> assertThrows(InterruptedException.class, () -> lock.lockInterruptibly()));
      second.awaitBlocked();
      second.interrupt();
      TestThread.result(wait);
      other.unlock();
      assertTrue(TestThread.result(first));
      actor.run(lock::unlock);
      assertFalse(lock.isLocked());
    }
  }

  @Test
  protected void lockWaitsThroughAnInterruptAndKeepsIt() throws Exception {
    other.lock();
    Future<Boolean> interrupted =
        actor.start(
            () -> {
              lock.lock();
              return Thread.interrupted();
            });
    actor.awaitBlocked();
    actor.interrupt();
    await().during(SHORT).atMost(SLACK).until(() -> !interrupted.isDone());
    other.unlock();
    assertTrue(TestThread.result(interrupted), "the status is kept");
    actor.run(lock::unlock);
    actor.run(
        () -> {
          Thread.currentThread().interrupt();
          assertTrue(lock.tryLock(), "an attempt is not a wait");
          lock.unlock();
          assertTrue(Thread.interrupted(), "the status is kept");
        });
  }

  // ---- without a waiting thread

  @Test
  protected void anAsynchronousWaitEndsWithALeaseOrEmpty() throws Exception {
    try (Lease held = result(lock.acquireAsync(Duration.ZERO)).orElseThrow()) {
      held.ensureValid();
      assertTrue(answered(() -> result(other.acquireAsync(SHORT))).isEmpty());
      assertTrue(answered(() -> result(lock.acquireAsync(SHORT, LONG))).isEmpty());
    }
    Lease first = lock.withLease(LONG).tryAcquire().orElseThrow();
    CompletionStage<Optional<Lease>> waiting = other.acquireAsync(LONG, LONG);
    await().during(SHORT).atMost(SLACK).until(() -> !waiting.toCompletableFuture().isDone());
    first.close();
    Lease second = result(waiting).orElseThrow();
    assertTrue(second.fencingToken() > first.fencingToken());
    second.close();
    assertFalse(lock.isLocked());
  }

  @Test
  protected void anAsynchronousWaitWithoutAnEndEndsWithALease() throws Exception {
    Lease first = lock.withLease(LONG).tryAcquire().orElseThrow();
    CompletableFuture<Lease> waiting = other.acquireAsync().toCompletableFuture();
    await().during(SHORT).atMost(SLACK).until(() -> !waiting.isDone());
    first.close();

    try (Lease second = TestThread.result(waiting)) {
      assertTrue(second.fencingToken() > first.fencingToken());
    }
    assertFalse(lock.isLocked());
  }

  @Test
  protected void aCancelledWaitLeavesNothingHeld() throws Exception {
    Lease held = lock.withLease(LONG).tryAcquire().orElseThrow();
    CompletionStage<Optional<Lease>> waiting = other.acquireAsync(LONG);
    await().during(SHORT).atMost(SLACK).until(other::isLocked);
    assertTrue(waiting.toCompletableFuture().cancel(true));
    held.close();
    assertNothingLeft();

    for (int i = 0; i < 50; i++) {
      CompletableFuture<Optional<Lease>> racing = other.acquireAsync(LONG).toCompletableFuture();
      LockSupport.parkNanos(i * 40_000L); // so that it comes at every stage of the acquisition
      if (!racing.cancel(true)) {
        racing.join().ifPresent(Lease::close);
      }
    }
    await().atMost(SLACK).until(() -> !lock.isLocked());
    Duration longer = lease().multipliedBy(2);
    assertTrue(lock.tryLock(longer), "a leak would be renewed for ever");
    lock.unlock();
  }

  private static Optional<Lease> result(CompletionStage<Optional<Lease>> stage) throws Exception {
    return TestThread.result(stage.toCompletableFuture());
  }
}
