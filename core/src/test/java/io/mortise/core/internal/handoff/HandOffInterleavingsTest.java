package io.mortise.core.internal.handoff;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.checkFaulty;
import static io.mortise.connection.testing.Interleavings.join;
import static io.mortise.connection.testing.Interleavings.race;
import static io.mortise.connection.testing.Interleavings.start;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.internal.lease.TransferableHold;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A hold that is left in the gate is somebody's: of the next in line, or of the one who sees that
 * there is none. Never of two, and never of nobody.
 */
@Tag("interleavings")
class HandOffInterleavingsTest {
  private static final String LOCK = "orders";
  private static final long FOREVER = Long.MAX_VALUE;
  private static final int SCHEDULES = 200;
  private static final TransferableHold HOLD =
      new TransferableHold("id:1", 0, 0, 1, 7, TransferableHold.TokenReserve.NONE, 0);

  /** The gate of a lock that this client holds, and how often the hold was taken from it. */
  private static class Line {
    final LocalQueues gates = new LocalQueues(() -> 0);
    final LocalQueue gate = gates.join(LOCK);
    final AtomicInteger taken = new AtomicInteger();

    Line() throws InterruptedException {
      assertTrue(gate.enter(0, true));
    }

    void passOn() {
      gate.offerHold(HOLD);
      gates.leave(LOCK, gate, true);
      note(gate.takeUnclaimedHold());
    }

    /** Stands in line, takes what was left, and goes without passing it on. */
    void stand(boolean waits) {
      LocalQueue mine = gates.join(LOCK);
      boolean permit = false;
      try {
        permit = mine.enter(waits ? FOREVER : 0, true, HOLD::equals);
        if (permit) {
          note(mine.takeHold());
        }
      } catch (InterruptedException e) {
        // it gives up
      } finally {
        gates.leave(LOCK, mine, permit);
        lookBack(mine);
      }
    }

    void lookBack(LocalQueue mine) {
      note(mine.takeUnclaimedHold());
    }

    /** To be called at the end. */
    void assertTakenOnceAndOnePermit() throws InterruptedException {
      assertEquals(1, taken.get(), "of whom the hold is");
      assertEquals(0, gates.size());
      assertTrue(gate.enter(0, true), "the permit was lost");
      assertFalse(gate.enter(0, true), "there is another permit");
    }

    private void note(TransferableHold hold) {
      if (hold != null) {
        taken.incrementAndGet();
      }
    }
  }

  /** Who gives up does not look whether the hold was just left to it. */
  private static final class Careless extends Line {
    Careless() throws InterruptedException {}

    @Override
    void lookBack(LocalQueue mine) {}
  }

  private static void oneGivesUp(Line line) throws InterruptedException {
    var waiter = start(() -> line.stand(true));
    while (!line.gate.hasWaiters()) {
      Thread.onSpinWait();
    }
    race(line::passOn, waiter.get(0)::interrupt);
    join(waiter.get(0));
    line.assertTakenOnceAndOnePermit();
  }

  @Test
  void whenTheLastInLineGivesUpOneOfTheTwoHasTheHold() {
    check(SCHEDULES, () -> oneGivesUp(new Line()));
  }

  @Test
  void thisIsFoundWhenWhoGivesUpDoesNotLook() {
    checkFaulty(10 * SCHEDULES, () -> oneGivesUp(new Careless()));
  }

  @Test
  void whoOvertakesTheLineHasTheHoldAloneAndTheLineMoves() {
    check(
        SCHEDULES,
        () -> {
          Line line = new Line();
          var waiter = start(() -> line.stand(true));
          while (!line.gate.hasWaiters()) {
            Thread.onSpinWait();
          }
          race(line::passOn, () -> line.stand(true));
          join(waiter.get(0));
          line.assertTakenOnceAndOnePermit();
        });
  }

  @Test
  void twoInLineDoNotBothHaveIt() {
    check(
        SCHEDULES,
        () -> {
          Line line = new Line();
          race(() -> line.stand(true), () -> line.stand(true), line::passOn);
          line.assertTakenOnceAndOnePermit();
        });
  }

  @Test
  void whoDoesNotWaitMayTakeItButNotLoseIt() {
    check(
        SCHEDULES,
        () -> {
          Line line = new Line();
          race(() -> line.stand(false), line::passOn);
          line.assertTakenOnceAndOnePermit();
        });
  }
}
