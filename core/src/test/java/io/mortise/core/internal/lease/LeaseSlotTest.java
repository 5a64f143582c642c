package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.concurrent.ClosingState;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.core.LockOptions;
import io.mortise.core.LockTuning;
import io.mortise.core.internal.lease.TransferableHold.TokenReserve;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LeaseSlotTest {
  private static final long TOKEN = 7;
  private static final LockTuning TUNING = LockOptions.defaults().tuning();

  private final FakeTicker ticker = new FakeTicker();
  private final ClosingState closing = new ClosingState();
  private final LeaseSlot slot = new LeaseSlot(TUNING, ticker, closing);
  private final CountingSlot taken = new CountingSlot();

  /** A slot with a waiter, unless the test says otherwise. */
  private static final class CountingSlot extends FakeQueueSlot {
    int releases;
    boolean hasWaiters = true;
    boolean fails;
    @Nullable TransferableHold unclaimed;

    @Override
    public boolean hasWaiters() {
      return hasWaiters;
    }

    @Override
    public void release() {
      if (fails) {
        throw new StackOverflowError("on purpose");
      }
      releases++;
    }

    @Override
    public TransferableHold handOff(TransferableHold hold, Runnable beforeOffer) {
      release();
      return hold;
    }

    @Override
    public @Nullable TransferableHold completeHandOff() {
      release();
      return unclaimed;
    }
  }

  private static TransferableHold hold() {
    return new TransferableHold("id:1", 0, 0, 1, TOKEN, TokenReserve.NONE, 0);
  }

  @BeforeEach
  void theClockHasRunForSomeTime() {
    ticker.advance(TUNING.maxHandOffTime().multipliedBy(3).toNanos());
  }

  @Test
  void theSlotIsGivenUpOnce() {
    slot.set(taken);

    slot.release();
    slot.release();
    slot.complete();

    assertEquals(1, taken.releases);
  }

  @Test
  void aSlotWhoseReleaseAnErrorHasInterruptedIsGivenUpByComplete() {
    slot.set(taken);
    taken.fails = true;
    assertThrows(StackOverflowError.class, slot::release);
    taken.fails = false;

    slot.complete();
    slot.complete();

    assertEquals(1, taken.releases);
  }

  @Test
  void aSlotWhoseReleaseAnErrorHasInterruptedIsGivenUpByTheNextRelease() {
    slot.set(taken);
    taken.fails = true;
    assertThrows(StackOverflowError.class, slot::release);
    taken.fails = false;

    slot.release();
    slot.release();

    assertEquals(1, taken.releases);
  }

  @Test
  void aHandOffThatAnErrorHasInterruptedIsCompletedUntilThatSucceeds() {
    slot.set(taken);
    slot.detach();
    taken.fails = true;
    assertThrows(StackOverflowError.class, () -> slot.handOff(hold(), () -> {}));
    assertThrows(StackOverflowError.class, slot::complete);
    taken.fails = false;
    taken.unclaimed = hold();

    assertSame(taken.unclaimed, slot.complete());
    assertNull(slot.complete());

    assertEquals(1, taken.releases);
  }

  @Test
  void aSlotThatLeavesWithTheHoldIsNotGivenUpAgain() {
    slot.set(taken);
    TransferableHold hold = hold();

    slot.detach();
    assertSame(hold, slot.handOff(hold, () -> {}));
    slot.complete();

    assertEquals(1, taken.releases);
  }

  @Test
  void aHoldIsHandedOffOnlyWithASlotAReservedTokenAndWithinItsTime() {
    assertFalse(slot.mayHandOff(TOKEN), "no slot");
    slot.set(taken);
    assertFalse(slot.mayHandOff(TOKEN), "no reserve");

    slot.reserveTokens(new TokenReserve(TOKEN + 1, ticker.read(), 0));
    assertTrue(slot.mayHandOff(TOKEN));
    assertFalse(slot.mayHandOff(TOKEN + 1), "the last token");
    taken.hasWaiters = false;
    assertFalse(slot.mayHandOff(TOKEN), "nobody waits");
    taken.hasWaiters = true;

    ticker.advance(TUNING.maxHandOffTime().toNanos() - 1);
    assertTrue(slot.mayHandOff(TOKEN));
    ticker.advance(1);
    assertFalse(slot.mayHandOff(TOKEN), "too long");
    slot.reserveTokens(new TokenReserve(TOKEN + 1, ticker.read(), TUNING.maxHandOffs()));
    assertFalse(slot.mayHandOff(TOKEN), "too often");
  }

  @Test
  void theNextHolderGetsTheReserveWithOneMoreHandOff() {
    slot.reserveTokens(new TokenReserve(TOKEN + 3, 5, 2));

    assertEquals(new TokenReserve(TOKEN + 3, 5, 3), slot.reserveAfterHandOff());
  }

  @Test
  void withoutASlotTheHoldStaysWithItsReleasingThread() {
    TransferableHold hold = hold();

    slot.detach();

    assertSame(hold, slot.handOff(hold, () -> {}));
  }

  @Test
  void aClosedClientHandsNothingOff() {
    slot.set(taken);
    slot.reserveTokens(new TokenReserve(TOKEN + 1, ticker.read(), 0));
    assertTrue(slot.mayHandOff(TOKEN));

    closing.begin();

    assertFalse(slot.mayHandOff(TOKEN));
  }
}
