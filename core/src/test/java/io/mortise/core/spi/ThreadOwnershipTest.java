package io.mortise.core.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ThreadOwnershipTest {
  private static final LeaseTerms RENEWED = terms(null, true);
  private static final LeaseTerms FIXED = terms(Duration.ofMinutes(1), true);

  private final FakeLease lease = new FakeLease("orders");
  private final FakeSource source = new FakeSource("orders", lease);

  private static LeaseTerms terms(@Nullable Duration lease, boolean interruptible) {
    return LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, lease, interruptible);
  }

  private static <T> T onAnotherThread(Callable<T> call) throws Exception {
    FutureTask<T> task = new FutureTask<>(call);
    Thread thread = new Thread(task, "another");
    thread.setDaemon(true);
    thread.start();
    return task.get(20, TimeUnit.SECONDS);
  }

  private void lock(LeaseTerms terms) throws InterruptedException {
    assertTrue(ThreadOwnership.lock(source, terms, WaitPolicy.AS_ASKED));
  }

  private static String refused(FakeSource source) {
    return assertThrows(IllegalMonitorStateException.class, () -> ThreadOwnership.unlock(source))
        .getMessage();
  }

  @Test
  void aThreadOwnsWhatItAcquiredAndTheLastUnlockReleasesIt() throws Exception {
    lock(RENEWED);

    assertEquals(1, ThreadOwnership.holdCount(source));
    assertSame(lease, ThreadOwnership.lease(source));
    assertEquals(List.of(Thread.currentThread()), source.owners);
    assertEquals(List.of(RENEWED), source.asked);
    ThreadOwnership.unlock(source);
    assertEquals(1, lease.releases.get());
    assertEquals(0, ThreadOwnership.holdCount(source));
    assertEquals(Optional.empty(), ThreadOwnership.leaseOf(source));
  }

  @Test
  void aHoldThatAnErrorKeepsFromItsReleaseIsNotRenewedAnyMore() throws Exception {
    lock(RENEWED);
    lease.errorAtRelease = new OutOfMemoryError("on purpose");

    assertSame(
        lease.errorAtRelease,
        assertThrows(OutOfMemoryError.class, () -> ThreadOwnership.unlock(source)));

    assertFalse(lease.isRenewed());
    assertEquals(0, ThreadOwnership.holdCount(source));
  }

  @Test
  void aHoldThatAnErrorKeepsFromBeingForgottenIsNotRenewedAndTheLockCanBeLockedAgain()
      throws Exception {
    AtomicInteger lookUps = new AtomicInteger(Integer.MAX_VALUE);
    source.identity =
        new Object() {
          @Override
          public int hashCode() {
            if (lookUps.decrementAndGet() == 0) {
              throw new StackOverflowError("on purpose");
            }
            return 1;
          }

          @Override
          public boolean equals(Object other) {
            return this == other;
          }
        };
    lock(RENEWED);
    lookUps.set(3); // to find the hold, to record the release, to forget the hold

    assertThrows(StackOverflowError.class, () -> ThreadOwnership.unlock(source));

    assertFalse(lease.isRenewed());
    assertTrue(refused(source).endsWith("it has released it already"));
    FakeLease next = new FakeLease("orders");
    source.free.add(next);
    lock(RENEWED);
    ThreadOwnership.unlock(source);
    assertEquals(1, next.releases.get());
  }

  @Test
  void anErrorThatComesAgainWhenTheHoldIsGivenUpIsTheOneThatIsThrown() {
    lease.errorAtRelease = new OutOfMemoryError("on purpose");
    lease.errorAtMinimum = lease.errorAtRelease;

    assertSame(lease.errorAtRelease, assertThrows(OutOfMemoryError.class, () -> lock(RENEWED)));
    assertFalse(lease.isRenewed(), "nobody is left to release it");
  }

  @Test
  void aMinimumBeginsWithTheGrantAndThatOfAReentryWithTheReentry() throws Exception {
    long minimum = 10_000_000_000L;
    LeaseTerms kept = RENEWED.atLeast(Duration.ofNanos(minimum));
    lease.since = source.nanoTime() - 5_000_000_000L;
    lock(kept);
    assertEquals(List.of(lease.since + minimum), lease.kept);
    long before = source.nanoTime();
    lock(kept);
    lock(RENEWED);

    assertEquals(2, lease.kept.size());
    assertTrue(lease.kept.get(1) - (before + minimum) >= 0);
    assertTrue(lease.kept.get(1) - (source.nanoTime() + minimum) <= 0);
    for (int i = 0; i < 3; i++) {
      ThreadOwnership.unlock(source);
    }
  }

  @Test
  void aReentryIsCountedAndSendsNothing() throws Exception {
    lock(FIXED);
    lock(FIXED);
    lock(RENEWED);

    assertEquals(3, ThreadOwnership.holdCount(source));
    assertEquals(1, source.asked.size());
    assertEquals(List.of(FIXED, RENEWED), lease.needed);
    ThreadOwnership.unlock(source);
    ThreadOwnership.unlock(source);
    assertEquals(0, lease.releases.get());
    assertEquals(1, ThreadOwnership.holdCount(source));
    ThreadOwnership.unlock(source);
    assertEquals(1, lease.releases.get());
  }

  @Test
  void theHoldIsRenewedWhileAnyLevelThatIsLeftWantsIt() throws Exception {
    lock(FIXED);
    lock(RENEWED);
    lock(FIXED);

    ThreadOwnership.unlock(source);
    ThreadOwnership.unlock(source);

    assertEquals(List.of(true, false), lease.renewed);
    lock(FIXED);
    ThreadOwnership.unlock(source);
    assertEquals(List.of(true, false, false), lease.renewed);
    ThreadOwnership.unlock(source);
    assertEquals(3, lease.renewed.size(), "the last level releases");
  }

  @Test
  void anOuterLevelThatIsRenewedKeepsTheInnerOnesSo() throws Exception {
    lock(RENEWED);
    lock(FIXED);
    lock(FIXED);
    ThreadOwnership.unlock(source);
    ThreadOwnership.unlock(source);

    assertEquals(List.of(true, true), lease.renewed);
    ThreadOwnership.unlock(source);
  }

  @Test
  void theLevelOfAWholeStaysWhenItsThreadUnlocksTheMemberItself() throws Exception {
    Object whole = new Object();
    lock(FIXED);
    assertTrue(ThreadOwnership.lockFor(whole, source, RENEWED));

    ThreadOwnership.unlock(source);

    assertEquals(List.of(true), lease.renewed);
    ThreadOwnership.unlockFor(whole, source);
    assertEquals(1, lease.releases.get());
  }

  @Test
  void theLevelsOfAMemberStayWhenItsThreadUnlocksTheWhole() throws Exception {
    Object whole = new Object();
    lock(FIXED);
    assertTrue(ThreadOwnership.lockFor(whole, source, FIXED));
    lock(RENEWED);

    assertNull(ThreadOwnership.exitFor(whole, source));
    ThreadOwnership.unlock(source);

    assertEquals(List.of(true, false), lease.renewed);
    ThreadOwnership.unlock(source);
    assertEquals(1, lease.releases.get());
  }

  /** An error between an end of the renewal and its new start would leave the hold unrenewed. */
  @Test
  void aReentryWithALeaseLeavesTheRenewalOfAnotherLevelAlone() throws Exception {
    Object whole = new Object();
    assertTrue(ThreadOwnership.lockFor(whole, source, RENEWED));

    lock(FIXED);

    assertEquals(List.of(FIXED), lease.needed);
    assertEquals(List.of(), lease.renewed);
    ThreadOwnership.unlockFor(whole, source);
    ThreadOwnership.unlock(source);
  }

  @Test
  void anUnlockThatHasNoLevelOfItsOwnExitsTheLastOne() throws Exception {
    Object whole = new Object();
    ThreadOwnership.registerFor(whole, source, lease, FIXED);
    assertTrue(ThreadOwnership.lockFor(whole, source, RENEWED));

    ThreadOwnership.unlock(source);

    assertEquals(List.of(false), lease.renewed);
    ThreadOwnership.unlock(source);
    assertEquals(1, lease.releases.get());
  }

  @Test
  void aThreadThatDoesNotGetTheLockOwnsNothing() throws Exception {
    source.free.clear();

    assertFalse(ThreadOwnership.lock(source, RENEWED, WaitPolicy.AS_ASKED));

    assertEquals(0, ThreadOwnership.holdCount(source));
    assertTrue(refused(source).contains("does not hold it: it has never locked it; "));
  }

  @Test
  void aSuperfluousUnlockSaysWhetherTheThreadEverHeldTheLock() throws Exception {
    String thread = Thread.currentThread().getName();
    assertEquals(
        "lock 'orders': thread '"
            + thread
            + "' does not hold it: it has never locked it; a thread unlocks what it has locked"
            + " itself, and a Lease is closed",
        refused(source));
    lock(RENEWED);
    ThreadOwnership.unlock(source);

    assertEquals(
        "lock 'orders': thread '" + thread + "' does not hold it: it has released it already",
        refused(source));
    assertThrows(IllegalMonitorStateException.class, () -> ThreadOwnership.lease(source));
    assertTrue(refused(new FakeSource("invoices")).contains("never locked it"));
    assertTrue(onAnotherThread(() -> refused(source)).contains("thread 'another' does not hold"));
    assertTrue(onAnotherThread(() -> refused(source)).contains("never locked it"));
    assertEquals(1, lease.releases.get());
  }

  @Test
  void threadsHoldIndependentlyOfEachOther() throws Exception {
    FakeLease second = new FakeLease("orders");
    source.free.add(second);
    lock(RENEWED);

    onAnotherThread(
        () -> {
          assertEquals(0, ThreadOwnership.holdCount(source));
          lock(RENEWED);
          lock(RENEWED);
          assertSame(second, ThreadOwnership.lease(source));
          assertEquals(2, ThreadOwnership.holdCount(source));
          ThreadOwnership.unlock(source);
          ThreadOwnership.unlock(source);
          return null;
        });

    assertEquals(1, second.releases.get());
    assertEquals(1, ThreadOwnership.holdCount(source));
    ThreadOwnership.unlock(source);
    assertEquals(1, lease.releases.get());
  }

  @Test
  void locksOfOneThreadAreDistinct() throws Exception {
    FakeSource other = new FakeSource("orders", new FakeLease("orders")); // of another client
    lock(RENEWED);

    assertEquals(0, ThreadOwnership.holdCount(other));
    assertTrue(ThreadOwnership.lock(other, RENEWED, WaitPolicy.AS_ASKED));
    ThreadOwnership.unlock(source);
    assertEquals(1, ThreadOwnership.holdCount(other));
    ThreadOwnership.unlock(other);
  }

  @Test
  void eachUnlockOfALostHoldSaysSoAndTheLastOneEndsIt() throws Exception {
    lock(RENEWED);
    lock(RENEWED);
    lease.lose();

    assertThrows(LeaseLostException.class, () -> lock(RENEWED));
    assertEquals(0, ThreadOwnership.holdCount(source), "not held any more");
    assertSame(lease, ThreadOwnership.lease(source), "but its lease can be asked why");
    assertThrows(LeaseLostException.class, () -> ThreadOwnership.unlock(source));
    assertEquals(0, lease.releases.get());
    assertThrows(LeaseLostException.class, () -> ThreadOwnership.unlock(source));
    assertEquals(1, lease.releases.get());
    assertTrue(refused(source).contains("released it already"));
    source.free.add(new FakeLease("orders"));
    lock(RENEWED); // a new hold
    ThreadOwnership.unlock(source);
  }

  enum Told {
    BY_A_HOLD_COUNT,
    BY_LOCKING_AGAIN,
    BY_UNLOCKING_A_LEVEL
  }

  /** As of a program that unlocks only what it still holds, on a thread of a pool. */
  @ParameterizedTest
  @EnumSource
  void aThreadThatKnowsOfTheLossMayLockAgain(Told told) throws Exception {
    lock(RENEWED);
    lock(RENEWED);
    lease.lose();
    switch (told) {
      case BY_A_HOLD_COUNT -> assertEquals(0, ThreadOwnership.holdCount(source));
      case BY_LOCKING_AGAIN -> assertThrows(LeaseLostException.class, () -> lock(RENEWED));
      case BY_UNLOCKING_A_LEVEL ->
          assertThrows(LeaseLostException.class, () -> ThreadOwnership.unlock(source));
    }
    FakeLease next = new FakeLease("orders");
    source.free.add(next);

    lock(RENEWED);

    assertSame(next, ThreadOwnership.lease(source));
    assertEquals(1, ThreadOwnership.holdCount(source));
    ThreadOwnership.unlock(source);
    assertEquals(1, next.releases.get());
  }

  @Test
  void theUnlocksOfALostHoldSayWhyAlsoAfterTheNextHoldOfTheThread() throws Exception {
    lock(RENEWED);
    lock(RENEWED);
    lease.lose();
    assertEquals(0, ThreadOwnership.holdCount(source));
    source.free.add(new FakeLease("orders"));
    lock(RENEWED);
    ThreadOwnership.unlock(source);

    assertEquals(0, ThreadOwnership.holdCount(source));
    assertThrows(LeaseLostException.class, () -> ThreadOwnership.unlock(source));
    assertThrows(LeaseLostException.class, () -> ThreadOwnership.unlock(source));
    assertEquals(1, lease.releases.get());
    assertTrue(refused(source).contains("released it already"));
  }

  /** As a member that a thread has locked, lost, and then acquired as a part of a MultiLock. */
  @Test
  void theUnlockOfALostHoldEndsNoLevelOfAWhole() throws Exception {
    Object whole = new Object();
    lock(RENEWED);
    lease.lose();
    assertEquals(0, ThreadOwnership.holdCount(source));
    FakeLease ofWhole = new FakeLease("orders");
    ThreadOwnership.registerFor(whole, source, ofWhole, RENEWED);

    assertThrows(LeaseLostException.class, () -> ThreadOwnership.unlock(source));

    assertEquals(1, ThreadOwnership.holdCount(source));
    assertEquals(0, ofWhole.releases.get());
    ThreadOwnership.unlockFor(whole, source);
    assertTrue(refused(source).contains("released it already"));
  }

  /** A thread that never unlocks what it has lost remembers the last loss alone. */
  @Test
  void ofSeveralLostHoldsTheLastOneIsRemembered() throws Exception {
    for (int i = 0; i < 3; i++) {
      FakeLease next = new FakeLease("orders");
      source.free.clear();
      source.free.add(next);
      lock(RENEWED);
      next.lose();
      assertEquals(0, ThreadOwnership.holdCount(source));
    }

    assertThrows(LeaseLostException.class, () -> ThreadOwnership.unlock(source));
    assertThrows(LeaseLostException.class, () -> ThreadOwnership.unlock(source));
    assertTrue(refused(source).contains("released it already"));
  }

  @Test
  void aLostHoldStaysWhenALaterAttemptDoesNotGetTheLock() throws Exception {
    lock(RENEWED);
    lease.lose();
    assertEquals(0, ThreadOwnership.holdCount(source));

    assertFalse(ThreadOwnership.lock(source, RENEWED, WaitPolicy.AS_ASKED));

    assertThrows(LeaseLostException.class, () -> ThreadOwnership.unlock(source));
  }

  /** As a MultiLock that lost a member, which its thread has then locked by itself. */
  @Test
  void aWholeThatHasLostAHoldDoesNotExitTheNextOne() throws Exception {
    Object whole = new Object();
    ThreadOwnership.registerFor(whole, source, lease, RENEWED);
    lease.lose();
    assertEquals(0, ThreadOwnership.holdCount(source));
    source.free.clear();
    source.free.add(new FakeLease("orders"));
    lock(RENEWED);

    assertThrows(LeaseLostException.class, () -> ThreadOwnership.exitFor(whole, source));

    assertEquals(1, ThreadOwnership.holdCount(source));
    assertThrows(IllegalMonitorStateException.class, () -> ThreadOwnership.exitFor(whole, source));
    assertEquals(1, ThreadOwnership.holdCount(source));
    ThreadOwnership.unlock(source);
  }

  /** As a MultiLock does between two rounds, which tells its thread nothing. */
  @Test
  void theExitOfAWholeDoesNotTellTheThreadOfTheLoss() throws Exception {
    Object whole = new Object();
    lock(RENEWED);
    assertTrue(ThreadOwnership.lockFor(whole, source, RENEWED));
    lease.lose();
    assertThrows(LeaseLostException.class, () -> ThreadOwnership.exitFor(whole, source));

    assertThrows(LeaseLostException.class, () -> lock(RENEWED));
    assertThrows(LeaseLostException.class, () -> ThreadOwnership.unlock(source));
  }

  /** As a lock that is lost twice, by itself and then as a part of a MultiLock. */
  @Test
  void theUnlockOfAForgottenHoldEndsNoLevelOfAWhole() throws Exception {
    lock(RENEWED);
    lease.lose();
    assertEquals(0, ThreadOwnership.holdCount(source));
    FakeLease ofFirst = new FakeLease("orders");
    ThreadOwnership.registerFor(new Object(), source, ofFirst, RENEWED);
    ofFirst.lose();
    assertEquals(0, ThreadOwnership.holdCount(source));
    Object second = new Object();
    FakeLease ofSecond = new FakeLease("orders");
    ThreadOwnership.registerFor(second, source, ofSecond, RENEWED);

    assertThrows(IllegalMonitorStateException.class, () -> ThreadOwnership.unlock(source));

    assertEquals(1, ThreadOwnership.holdCount(source));
    assertEquals(0, ofSecond.releases.get());
    ThreadOwnership.unlockFor(second, source);
    assertEquals(1, ofSecond.releases.get());
  }

  @Test
  void aHoldCountOfAValidHoldIsNoNewsOfALoss() throws Exception {
    lock(RENEWED);
    assertEquals(1, ThreadOwnership.holdCount(source));
    lease.lose();

    assertThrows(LeaseLostException.class, () -> lock(RENEWED));
    assertThrows(LeaseLostException.class, () -> ThreadOwnership.unlock(source));
  }

  @Test
  void aThreadThatLocksBeforeItHasUnlockedALostHoldIsToldWhatToDo() throws Exception {
    lock(RENEWED);
    lease.lose();

    LeaseLostException thrown = assertThrows(LeaseLostException.class, () -> lock(RENEWED));

    assertTrue(
        thrown
            .getMessage()
            .matches(
                "lock 'orders': the earlier hold of this thread, with fencing token 1, was lost"
                    + " \\d+ ms ago: detail of orders; undo what depends on it, then lock again"),
        thrown.getMessage());
    assertEquals(lease.loss(), Optional.of(thrown.loss()));
    assertThrows(LeaseLostException.class, () -> ThreadOwnership.unlock(source));
  }

  /** As the hold of a MultiLock, which is the lock that the thread locks. */
  @Test
  void theLockThatIsLockedAgainIsNamedAlsoWhenAPartOfItSaysThatItIsLost() throws Exception {
    FakeLease part = new FakeLease("part");
    part.lose();
    lock(RENEWED);
    lease.loses(LeaseLoss.Reason.MISSING, System.nanoTime());
    lease.failing(new LeaseLostException(part.loss().orElseThrow()));

    LeaseLostException thrown = assertThrows(LeaseLostException.class, () -> lock(RENEWED));

    assertEquals("orders", thrown.loss().lockName());
    assertSame(lease.failure, thrown.getCause());
    assertThrows(LeaseLostException.class, () -> ThreadOwnership.unlock(source));
  }

  @Test
  void aReentryThatCannotExtendTheHoldDoesNotCount() throws Exception {
    lock(FIXED);
    lease.failure = new LockException(Reason.UNREACHABLE, "on purpose", null);

    assertThrows(LockException.class, () -> lock(RENEWED));

    lease.failure = null;
    assertEquals(1, ThreadOwnership.holdCount(source));
    ThreadOwnership.unlock(source);
    assertEquals(1, lease.releases.get());
  }

  @Test
  void aReentryThatEndsWithAnErrorLeavesTheHoldAsItWas() throws Exception {
    lock(FIXED);
    lease.errorAtMinimum = new OutOfMemoryError("on purpose");

    assertThrows(OutOfMemoryError.class, () -> lock(RENEWED.atLeast(Duration.ofSeconds(1))));

    assertEquals(1, ThreadOwnership.holdCount(source));
    assertEquals(List.of(false), lease.renewed, "it has exited the level that it had entered");
    ThreadOwnership.unlock(source);
    assertEquals(1, lease.releases.get());
  }

  @Test
  void anUnlockThatCouldNotBeConfirmedGivesUpAllTheSame() throws Exception {
    lock(RENEWED);
    lease.failure = new LockException(Reason.UNREACHABLE, "on purpose", null);

    assertThrows(LockException.class, () -> ThreadOwnership.unlock(source));

    assertEquals(0, ThreadOwnership.holdCount(source));
    assertTrue(refused(source).contains("released it already"));
  }

  @Test
  void anInterruptEndsAReentryIfItEndsAWaitAndIsKeptOtherwise() throws Exception {
    lock(RENEWED);
    Thread.currentThread().interrupt();
    InterruptedException thrown =
        assertThrows(
            InterruptedException.class,
            () -> ThreadOwnership.lock(source, RENEWED, WaitPolicy.AS_ASKED));
    assertEquals("interrupted before re-entering 'orders'", thrown.getMessage());
    assertFalse(Thread.currentThread().isInterrupted());
    assertEquals(1, ThreadOwnership.holdCount(source));

    Thread.currentThread().interrupt();
    assertTrue(ThreadOwnership.lock(source, terms(null, false), WaitPolicy.AS_ASKED));
    assertTrue(Thread.interrupted());
    assertEquals(2, ThreadOwnership.holdCount(source));
    ThreadOwnership.unlock(source);
    ThreadOwnership.unlock(source);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, LeaseTerms.FOREVER})
  void aThreadThatWouldWaitForItselfIsRefusedOrFails(long waitNanos) throws Exception {
    source.obstacle = Optional.of("it holds the read lock");

    assertFalse(ThreadOwnership.lock(source, RENEWED, WaitPolicy.AS_ASKED), "an attempt fails");
    IllegalStateException thrown =
        assertThrows(
            IllegalStateException.class,
            () -> ThreadOwnership.lock(source, RENEWED.waiting(waitNanos), WaitPolicy.AS_ASKED));

    assertTrue(
        thrown.getMessage().endsWith("would wait for itself: it holds the read lock"),
        thrown.getMessage());
    assertEquals(List.of(), source.asked);
  }

  @Test
  void theThreadThatExitsTheLastLevelGetsTheLeaseToRelease() throws Exception {
    assertTrue(ThreadOwnership.lockFor(this, source, RENEWED));
    assertTrue(ThreadOwnership.lockFor(this, source, RENEWED));

    assertNull(ThreadOwnership.exitFor(this, source));
    assertSame(lease, ThreadOwnership.exitFor(this, source));

    assertEquals(0, lease.releases.get());
    assertEquals(Optional.empty(), ThreadOwnership.leaseOf(source));
  }
}
