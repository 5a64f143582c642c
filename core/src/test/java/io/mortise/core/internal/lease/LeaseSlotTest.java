package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.lease.TransferableHold.TokenReserve;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LeaseSlotTest {
  private static final long TOKEN = 7;
  private static final long HOUR = 3_600_000_000_000L;

  private final RedisLockClient client = (RedisLockClient) LockClient.create("redis://127.0.0.1:1");
  private final LeaseContext context = client.context().lease();
  private final LeaseSlot slot = new LeaseSlot(context);
  private final FakeSlot taken = new FakeSlot();

  /** A slot with a waiter. */
  private static final class FakeSlot implements QueueSlot {
    int releases;
    boolean fails;

    @Override
    public boolean hasWaiters() {
      return true;
    }

    @Override
    public void release() {
      if (fails) {
        throw new StackOverflowError("on purpose");
      }
      releases++;
    }

    @Override
    public TransferableHold handOff(TransferableHold hold) {
      release();
      return hold;
    }
  }

  @AfterEach
  void close() {
    client.close();
  }

  private static TransferableHold hold() {
    return new TransferableHold("id:1", 0, 0, 1, TOKEN, TokenReserve.NONE, 0);
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
  void aSlotThatLeavesWithTheHoldIsNotGivenUpAgain() {
    slot.set(taken);
    TransferableHold hold = hold();

    slot.detach();
    assertSame(hold, slot.handOff(hold));
    slot.complete();

    assertEquals(1, taken.releases);
  }

  @Test
  void aHoldIsHandedOffOnlyWithASlotAReservedTokenAndWithinItsTime() {
    assertFalse(slot.mayHandOff(TOKEN), "no slot");
    slot.set(taken);
    assertFalse(slot.mayHandOff(TOKEN), "no reserve");

    long since = context.nanos() + HOUR; // so that a pause of the test does not matter
    slot.reserveTokens(new TokenReserve(TOKEN + 1, since, 0));
    assertTrue(slot.mayHandOff(TOKEN));
    assertFalse(slot.mayHandOff(TOKEN + 1), "the last token");

    slot.reserveTokens(new TokenReserve(TOKEN + 1, since - 2 * HOUR, 0));
    assertFalse(slot.mayHandOff(TOKEN), "too long");
    slot.reserveTokens(new TokenReserve(TOKEN + 1, since, 100));
    assertFalse(slot.mayHandOff(TOKEN), "too often");
  }
}
