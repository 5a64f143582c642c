package io.mortise.core.spi;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A thread changes its own holds only, and sees a change by another thread at its next step. */
@Tag("interleavings")
class ThreadOwnershipInterleavingsTest {
  private static final int SCHEDULES = 30;
  private static final LeaseTerms TERMS =
      LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, Duration.ofMinutes(1), false);

  @Test
  void twoThreadsOwnTheirOwnHoldsOfOneLock() {
    check(
        SCHEDULES,
        () -> {
          FakeLease first = new FakeLease("orders");
          FakeLease second = new FakeLease("orders");
          FakeSource lock = new FakeSource("orders", first, second);
          AtomicReference<OwnedLease> one = new AtomicReference<>();
          AtomicReference<OwnedLease> other = new AtomicReference<>();
          race(() -> one.set(lockTwiceAndUnlock(lock)), () -> other.set(lockTwiceAndUnlock(lock)));
          assertNotSame(one.get(), other.get());
          assertEquals(1, first.releases.get());
          assertEquals(1, second.releases.get());
          assertTrue(ThreadOwnership.leaseOf(lock).isEmpty(), "this thread has not locked");
        });
  }

  private static OwnedLease lockTwiceAndUnlock(FakeSource lock) throws InterruptedException {
    assertTrue(ThreadOwnership.lock(lock, TERMS, WaitPolicy.AS_ASKED));
    OwnedLease mine = ThreadOwnership.lease(lock);
    assertTrue(ThreadOwnership.lock(lock, TERMS, WaitPolicy.AS_ASKED));
    assertEquals(2, ThreadOwnership.holdCount(lock));
    ThreadOwnership.unlock(lock);
    assertEquals(1, ThreadOwnership.holdCount(lock));
    ThreadOwnership.unlock(lock);
    assertTrue(ThreadOwnership.leaseOf(lock).isEmpty());
    assertThrows(IllegalMonitorStateException.class, () -> ThreadOwnership.unlock(lock));
    return mine;
  }

  /** Any thread may close a lease; the next call of its owner is answered, and releases it. */
  @Test
  void aReleaseByAnotherThreadLeavesTheOwnerItsLevels() {
    check(
        SCHEDULES,
        () -> {
          FakeLease lease = new FakeLease("orders");
          FakeSource lock = new FakeSource("orders", lease);
          race(
              () -> {
                assertTrue(ThreadOwnership.lock(lock, TERMS, WaitPolicy.AS_ASKED));
                int held = ThreadOwnership.holdCount(lock);
                assertTrue(held == 1 || lease.releases.get() == 1, () -> held + " levels");
                ThreadOwnership.unlock(lock);
                assertTrue(ThreadOwnership.leaseOf(lock).isEmpty());
              },
              lease::close);
          assertEquals(2, lease.releases.get());
        });
  }

  @Test
  void aLossIsThrownAtTheNextStepAndThenTheHoldIsGone() {
    check(
        SCHEDULES,
        () -> {
          FakeLease lease = new FakeLease("orders");
          FakeSource lock = new FakeSource("orders", lease);
          race(() -> reenterAndLeave(lock, lease), () -> lease.loses(Reason.FORCED, 0));
        });
  }

  private static void reenterAndLeave(FakeSource lock, FakeLease lease)
      throws InterruptedException {
    assertTrue(ThreadOwnership.lock(lock, TERMS, WaitPolicy.AS_ASKED));
    boolean reentered =
        afterALossThrows(lease, () -> ThreadOwnership.lock(lock, TERMS, WaitPolicy.AS_ASKED));
    if (!lease.isValid()) {
      assertEquals(0, ThreadOwnership.holdCount(lock));
    }
    if (reentered) {
      afterALossThrows(lease, () -> ThreadOwnership.unlock(lock));
    }
    afterALossThrows(lease, () -> ThreadOwnership.unlock(lock));
    assertTrue(ThreadOwnership.leaseOf(lock).isEmpty());
    assertEquals(1, lease.releases.get());
  }

  /** Only what was lost when the step began has to be seen by it; what comes then may be. */
  private static boolean afterALossThrows(FakeLease lease, Step step) throws InterruptedException {
    boolean lost = lease.loss().isPresent();
    try {
      step.run();
    } catch (LeaseLostException seen) {
      assertTrue(lease.loss().isPresent());
      return false;
    }
    assertFalse(lost, "the loss was passed over");
    return true;
  }

  private interface Step {
    void run() throws InterruptedException;
  }
}
