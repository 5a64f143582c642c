package io.mortise.core.internal.handoff;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.FakeRunProtocol;
import io.mortise.core.internal.lease.TransferableHold;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Wherever the stack overflows in an offer, the hold belongs to one of the two: to the giver, until
 * it gives it up, and then to the waiter.
 */
@Timeout(60)
class OfferWithoutStackTest {
  /** From the end of the stack on: more frames than an offer has. */
  private static final int DEPTHS = 100;

  private static final long STACK = 256 * 1024L;
  private static final RunWaiter.Offer OFFER =
      new RunWaiter.Offer(new FakeRunProtocol(new FakeProtocol("orders"), List.of("id:2"), 0))
          .of(new TransferableHold("id:1", 0, 0, 1, 7, TransferableHold.TokenReserve.NONE, 0));

  private final RunWaiter[] waiters = new RunWaiter[DEPTHS];
  private final boolean[] givenUp = new boolean[DEPTHS];
  private final Runnable[] givingUp = new Runnable[DEPTHS];
  private int depth;
  private int overflows;

  private OfferWithoutStackTest() {
    for (int i = 0; i < DEPTHS; i++) {
      int place = i;
      waiters[i] = new RunWaiter(1);
      givingUp[i] = () -> givenUp[place] = true;
    }
  }

  /** Calls itself to the end of the stack, and makes one offer in each of the last frames. */
  @SuppressWarnings("InfiniteRecursion") // to the end of the stack
  private void descend() {
    try {
      descend();
    } catch (StackOverflowError end) {
      // go on from here
    }
    if (depth < DEPTHS) {
      int place = depth++;
      try {
        waiters[place].offer(OFFER, givingUp[place]);
      } catch (StackOverflowError end) {
        overflows++;
      }
    }
  }

  @Test
  void aHoldThatIsGivenUpIsOffered() throws Exception {
    new RunWaiter(1).offer(OFFER, () -> {}); // loads what it needs
    Thread thread = new Thread(null, this::descend, "at the end of the stack", STACK);
    thread.start();
    thread.join();

    assertEquals(DEPTHS, depth);
    assertTrue(overflows > 0, "no offer was at the end of the stack");
    assertTrue(overflows < DEPTHS, "all offers were at the end of the stack");
    for (int i = 0; i < DEPTHS; i++) {
      int place = i;
      assertEquals(
          givenUp[i], waiters[i].offered() != null, () -> "frame " + place + " from the end");
    }
  }
}
