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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The line is one line, with one permit, for as long as anybody uses it; and then it is gone. */
@Tag("interleavings")
class LocalQueuesInterleavingsTest {
  private static final String LOCK = "orders";
  private static final long FOREVER = Long.MAX_VALUE;

  /** What the threads of one scenario share. */
  private static final class Line {
    final LocalQueues gates = new LocalQueues(System::nanoTime);

    /** Whoever has the permit may write these; they are plain so that two who have it show. */
    private int inside;

    private int turns;

    /** One acquisition and hold: whether it got the permit. */
    boolean turn(long nanos, boolean interruptible) {
      LocalQueue gate = gates.join(LOCK);
      boolean permit = false;
      try {
        permit = gate.enter(nanos, interruptible);
        if (permit) {
          inside++;
          assertEquals(1, inside, "the permit is somebody else's");
          turns++;
          inside--;
        }
      } catch (InterruptedException e) {
        assertFalse(permit);
      } finally {
        gates.leave(LOCK, gate, permit);
      }
      return permit;
    }

    /** Waits until it is this one's turn. */
    void turn() {
      assertTrue(turn(FOREVER, false));
    }

    /** The gate was kept alive by this one, who did not enter. */
    void assertOnePermit(LocalQueue kept) throws InterruptedException {
      assertEquals(1, gates.size());
      assertEquals(1, kept.users);
      assertFalse(kept.hasWaiters());
      assertTrue(kept.enter(0, true), "the permit was lost");
      assertFalse(kept.enter(0, true), "the permit was passed on twice");
      gates.leave(LOCK, kept, true);
      assertEquals(0, gates.size());
    }
  }

  @Test
  void oneAtATimeHasThePermitAndNobodyIsForgottenInTheLine() {
    check(
        200,
        () -> {
          Line line = new Line();
          race(line::turn, line::turn, line::turn);
          assertEquals(3, line.turns);
          assertEquals(0, line.gates.size(), "a gate that nobody uses was left behind");
        });
  }

  @Test
  void aGateThatIsLeftByItsLastIsNotGivenToTheNext() {
    check(
        200,
        () -> {
          Line line = new Line();
          Interleavings.Step twice =
              () -> {
                line.turn();
                line.turn();
              };
          race(twice, twice);
          assertEquals(4, line.turns);
          assertEquals(0, line.gates.size());
        });
  }

  @Test
  void whoDoesNotWaitNeitherTakesNorAddsAPermit() {
    check(
        200,
        () -> {
          Line line = new Line();
          LocalQueue kept = line.gates.join(LOCK);
          race(line::turn, () -> line.turn(0, true));
          line.assertOnePermit(kept);
        });
  }

  @Test
  void whoIsInterruptedInTheLineNeitherTakesNorAddsAPermit() {
    check(
        200,
        () -> {
          Line line = new Line();
          LocalQueue kept = line.gates.join(LOCK);
          var waiters = start(() -> line.turn(FOREVER, true), line::turn);
          waiters.get(0).interrupt();
          for (Thread waiter : waiters) {
            join(waiter);
          }
          line.assertOnePermit(kept);
        });
  }

  @Test
  void aHoldThatIsLostWhileItIsReleasedPassesItsPermitOnOnce() {
    LeaseLoss loss = new LeaseLoss(LOCK, 7, Reason.EXPIRED, 0, "late");
    check(
        200,
        () -> {
          Line line = new Line();
          LocalQueue kept = line.gates.join(LOCK);
          LocalQueue gate = line.gates.join(LOCK);
          assertTrue(gate.enter(0, true));
          LeaseStateMachine hold = new LeaseStateMachine(LOCK, Runnable::run);
          race(
              () -> {
                if (hold.lose(loss)) {
                  line.gates.leave(LOCK, gate, true);
                }
              },
              () -> {
                if (hold.beginRelease()) {
                  hold.endRelease(null);
                  line.gates.leave(LOCK, gate, true);
                }
              },
              line::turn);
          line.assertOnePermit(kept);
        });
  }

  @Test
  void nobodyIsLeftInALineThatIsClosed() {
    check(
        200,
        () -> {
          LocalQueues gates = new LocalQueues(System::nanoTime);
          LocalQueue held = gates.join(LOCK);
          assertTrue(held.enter(0, true)); // by a hold that never ends
          Interleavings.Step waiter =
              () -> {
                LocalQueue gate = gates.join(LOCK);
                assertTrue(gate.enter(FOREVER, false));
                gates.leave(LOCK, gate, true);
              };
          race(waiter, waiter, gates::close);
          assertEquals(1, held.users);
        });
  }
}
