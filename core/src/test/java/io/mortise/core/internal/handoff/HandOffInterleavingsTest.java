package io.mortise.core.internal.handoff;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.checkFaulty;
import static io.mortise.connection.testing.Interleavings.join;
import static io.mortise.connection.testing.Interleavings.race;
import static io.mortise.connection.testing.Interleavings.start;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.internal.lease.LockId;
import io.mortise.core.internal.lease.TransferableHold;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * An offered hold goes to exactly one thread: the next in the queue, or the one that finds the
 * queue empty.
 */
@Tag("interleavings")
class HandOffInterleavingsTest {
  private static final LockId LOCK = new LockId("lock", "orders");
  private static final long FOREVER = Long.MAX_VALUE;
  private static final int SCHEDULES = 200;
  private static final TransferableHold HOLD =
      new TransferableHold("id:1", 0, 0, 1, 7, TransferableHold.TokenReserve.NONE, 0);

  /** The queue of a lock that this client holds, and how often the hold was taken from it. */
  private static class Scenario {
    final LocalQueues queues = new LocalQueues(() -> 0);
    final LocalQueue queue = queues.join(LOCK);
    final AtomicInteger taken = new AtomicInteger();

    Scenario() throws InterruptedException {
      assertTrue(queue.enter(0, true));
    }

    void handOff() {
      queue.offerHold(HOLD);
      queue.release();
      queues.leave(LOCK, queue);
      note(queue.takeUnclaimedHold());
    }

    /** Waits in the queue, takes the offered hold, and leaves without handing it off. */
    void acquire(boolean waits) {
      LocalQueue own = queues.join(LOCK);
      boolean permit = false;
      try {
        permit = own.enter(waits ? FOREVER : 0, true, HOLD::equals);
        if (permit) {
          note(own.takeHold());
        }
      } catch (InterruptedException e) {
        // it gives up
      } finally {
        if (permit) {
          own.release();
        }
        queues.leave(LOCK, own);
        checkForUnclaimedHold(own);
      }
    }

    void checkForUnclaimedHold(LocalQueue own) {
      note(own.takeUnclaimedHold());
    }

    /** To be called at the end. */
    void assertTakenOnceAndOnePermit() throws InterruptedException {
      assertEquals(1, taken.get(), "of whom the hold is");
      assertEquals(0, queues.size());
      assertTrue(queue.enter(0, true), "the permit was lost");
      assertFalse(queue.enter(0, true), "there is another permit");
    }

    private void note(TransferableHold hold) {
      if (hold != null) {
        taken.incrementAndGet();
      }
    }
  }

  /** A thread that gives up does not check whether the hold was just offered to it. */
  private static final class WithoutCheck extends Scenario {
    WithoutCheck() throws InterruptedException {}

    @Override
    void checkForUnclaimedHold(LocalQueue own) {}
  }

  private static void oneGivesUp(Scenario scenario) throws InterruptedException {
    var waiter = start(() -> scenario.acquire(true));
    while (!scenario.queue.hasWaiters()) {
      Thread.onSpinWait();
    }
    race(scenario::handOff, waiter.get(0)::interrupt);
    join(waiter.get(0));
    scenario.assertTakenOnceAndOnePermit();
  }

  @Test
  void whenTheLastWaiterGivesUpExactlyOneOfTheTwoHasTheHold() {
    check(SCHEDULES, () -> oneGivesUp(new Scenario()));
  }

  @Test
  void theTestFailsWithoutTheCheckOfTheThreadThatGivesUp() {
    checkFaulty(10 * SCHEDULES, () -> oneGivesUp(new WithoutCheck()));
  }

  @Test
  void aBargingThreadHasTheHoldAloneAndTheQueueMoves() {
    check(
        SCHEDULES,
        () -> {
          Scenario scenario = new Scenario();
          var waiter = start(() -> scenario.acquire(true));
          while (!scenario.queue.hasWaiters()) {
            Thread.onSpinWait();
          }
          race(scenario::handOff, () -> scenario.acquire(true));
          join(waiter.get(0));
          scenario.assertTakenOnceAndOnePermit();
        });
  }

  @Test
  void twoWaitersDoNotBothHaveIt() {
    check(
        SCHEDULES,
        () -> {
          Scenario scenario = new Scenario();
          race(() -> scenario.acquire(true), () -> scenario.acquire(true), scenario::handOff);
          scenario.assertTakenOnceAndOnePermit();
        });
  }

  @Test
  void anAttemptWithoutAWaitMayTakeItButNotLoseIt() {
    check(
        SCHEDULES,
        () -> {
          Scenario scenario = new Scenario();
          race(() -> scenario.acquire(false), scenario::handOff);
          scenario.assertTakenOnceAndOnePermit();
        });
  }
}
