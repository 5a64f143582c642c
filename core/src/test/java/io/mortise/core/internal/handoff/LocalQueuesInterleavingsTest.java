package io.mortise.core.internal.handoff;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.join;
import static io.mortise.connection.testing.Interleavings.race;
import static io.mortise.connection.testing.Interleavings.start;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.Interleavings;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.internal.lease.LeaseStateMachine;
import io.mortise.core.internal.lease.LockId;
import io.mortise.core.internal.lease.SameWorkers;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A lock has one queue with one permit for as long as any thread uses it; then it is removed. */
@Tag("interleavings")
class LocalQueuesInterleavingsTest {
  private static final LockId LOCK = new LockId("lock", "orders");
  private static final long FOREVER = Long.MAX_VALUE;

  /** The state that the threads of one scenario share. */
  private static final class Scenario {
    final LocalQueues queues = new LocalQueues(System::nanoTime);

    /** Only the thread with the permit may write these. Plain fields show two such threads. */
    private int inside;

    private int turns;

    void leave(LocalQueue queue, boolean withPermit) {
      if (withPermit) {
        queue.release();
      }
      queues.leave(LOCK, queue);
    }

    /** One acquisition and hold: whether it got the permit. */
    boolean turn(long nanos, boolean interruptible) {
      LocalQueue queue = queues.join(LOCK);
      boolean permit = false;
      try {
        permit = queue.enter(nanos, interruptible);
        if (permit) {
          inside++;
          assertEquals(1, inside, "the permit is somebody else's");
          turns++;
          inside--;
        }
      } catch (InterruptedException e) {
        assertFalse(permit);
      } finally {
        leave(queue, permit);
      }
      return permit;
    }

    /** Waits until it is this one's turn. */
    void turn() {
      assertTrue(turn(FOREVER, false));
    }

    /** The queue was kept alive by this one, who did not enter. */
    void assertOnePermit(LocalQueue kept) throws InterruptedException {
      assertEquals(1, queues.size());
      assertEquals(1, kept.users);
      assertFalse(kept.hasWaiters());
      assertTrue(kept.enter(0, true), "the permit was lost");
      assertFalse(kept.enter(0, true), "the permit was passed on twice");
      leave(kept, true);
      assertEquals(0, queues.size());
    }
  }

  @Test
  void onlyOneThreadHasThePermitAndNoWaiterIsForgotten() {
    check(
        200,
        () -> {
          Scenario scenario = new Scenario();
          race(scenario::turn, scenario::turn, scenario::turn);
          assertEquals(3, scenario.turns);
          assertEquals(0, scenario.queues.size(), "a queue that nobody uses was left behind");
        });
  }

  @Test
  void aQueueThatItsLastUserHasLeftIsNotGivenToTheNext() {
    check(
        200,
        () -> {
          Scenario scenario = new Scenario();
          Interleavings.Step twice =
              () -> {
                scenario.turn();
                scenario.turn();
              };
          race(twice, twice);
          assertEquals(4, scenario.turns);
          assertEquals(0, scenario.queues.size());
        });
  }

  @Test
  void anAttemptWithoutAWaitNeitherTakesNorAddsAPermit() {
    check(
        200,
        () -> {
          Scenario scenario = new Scenario();
          LocalQueue kept = scenario.queues.join(LOCK);
          race(scenario::turn, () -> scenario.turn(0, true));
          scenario.assertOnePermit(kept);
        });
  }

  @Test
  void anInterruptedWaiterNeitherTakesNorAddsAPermit() {
    check(
        200,
        () -> {
          Scenario scenario = new Scenario();
          LocalQueue kept = scenario.queues.join(LOCK);
          var waiters = start(() -> scenario.turn(FOREVER, true), scenario::turn);
          waiters.get(0).interrupt();
          for (Thread waiter : waiters) {
            join(waiter);
          }
          scenario.assertOnePermit(kept);
        });
  }

  @Test
  void aHoldThatIsLostWhileItIsReleasedReleasesItsPermitOnce() {
    LeaseLoss loss = new LeaseLoss(LOCK.name(), 7, Reason.EXPIRED, 0, "late");
    check(
        200,
        () -> {
          Scenario scenario = new Scenario();
          LocalQueue kept = scenario.queues.join(LOCK);
          LocalQueue queue = scenario.queues.join(LOCK);
          assertTrue(queue.enter(0, true));
          LeaseStateMachine hold =
              new LeaseStateMachine(LOCK.name(), SameWorkers.of(Runnable::run));
          race(
              () -> {
                if (hold.lose(loss)) {
                  scenario.leave(queue, true);
                }
              },
              () -> {
                if (hold.beginRelease()) {
                  hold.endRelease(null);
                  scenario.leave(queue, true);
                }
              },
              scenario::turn);
          scenario.assertOnePermit(kept);
        });
  }

  @Test
  void noWaiterIsLeftInAClosedQueue() {
    check(
        200,
        () -> {
          LocalQueues queues = new LocalQueues(System::nanoTime);
          LocalQueue held = queues.join(LOCK);
          assertTrue(held.enter(0, true)); // by a hold that never ends
          Interleavings.Step waiter =
              () -> {
                LocalQueue queue = queues.join(LOCK);
                assertTrue(queue.enter(FOREVER, false));
                queue.release();
                queues.leave(LOCK, queue);
              };
          race(waiter, waiter, queues::close);
          assertEquals(1, held.users);
        });
  }
}
