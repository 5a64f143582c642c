package io.mortise.cli.demo;

import static io.mortise.cli.demo.TransfersRun.OPENING;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Timeline.Frame;
import java.util.List;
import org.junit.jupiter.api.Test;

class TransfersTest {
  private static final Hold FROM_A = new Hold(0, 0, 1, 0, 10, 20);
  private static final Hold FROM_B = new Hold(1, 0, 2, 0, 20, 30);
  private static final Hold FROM_A_AGAIN = new Hold(2, 0, 3, 0, 30, 40);

  private static TransfersRun run(int tries, long onA, long onB, Hold... holds) {
    return new TransfersRun(
        LockOrder.TOGETHER,
        List.of(holds),
        tries,
        onA,
        onB,
        0,
        40,
        new Timeline(
            new Frame(0, 100, 0, "the start"), List.of(), List.of(), List.of(), 3, 1, "None."));
  }

  private static TransfersRun right(int tries) {
    return run(tries, OPENING - 1, OPENING + 1, FROM_A, FROM_B, FROM_A_AGAIN);
  }

  private static boolean passes(TransfersRun together) {
    return Transfers.outcome(right(10), together).ok();
  }

  @Test
  void eachFlawIsFound() {
    assertTrue(passes(right(3)));

    assertFalse(passes(right(4)), "one gave up");
    assertFalse(passes(run(1, OPENING - 1, OPENING + 1, FROM_A)), "one way only");
    assertFalse(
        passes(run(3, OPENING - 1, OPENING, FROM_A, FROM_B, FROM_A_AGAIN)), "money was lost");
    assertFalse(
        passes(run(3, OPENING, OPENING, FROM_A, FROM_B, FROM_A_AGAIN)),
        "the total is right, the accounts are not");
    assertFalse(
        passes(run(2, OPENING, OPENING, FROM_A, new Hold(1, 0, 2, 0, 19, 30))),
        "two inside at the same time");
    assertFalse(
        passes(run(2, OPENING, OPENING, FROM_A, new Hold(1, 0, 1, 0, 20, 30))),
        "a token that does not grow");
    assertFalse(
        Transfers.outcome(run(10, OPENING, OPENING + 1, FROM_A), right(3)).ok(),
        "money was lost one by one");
  }

  @Test
  void aContrastThatCannotBeSeenIsAdmitted() {
    Outcome outcome = Transfers.outcome(right(3), right(3));
    assertTrue(outcome.ok());
    assertTrue(outcome.explanation().contains("this run proves little"), outcome::explanation);
  }

  @Test
  void halfOfTheProcessesPayFromEachAccount() {
    assertEquals(TransfersRun.payer(0).other(), TransfersRun.payer(1));
    assertEquals(TransfersRun.payer(0), TransfersRun.payer(2));
  }
}
