package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockInspection.Participant.Library;
import java.time.Instant;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;

/** The parts of holder ids of this version, of earlier versions, and of Redisson. */
class HolderIdTest {
  private static final String MORTISE = "11111111-1111-8111-8111-111111111111";
  private static final String REDISSON = "11111111-1111-4111-8111-111111111111";

  /** The size up to which Redis keeps a small hash compact. */
  private static final int COMPACT = 64;

  private static HolderIds at(long millis) {
    InstantSource clock = () -> Instant.ofEpochMilli(millis);
    return new HolderIds(MORTISE, clock);
  }

  @Test
  void anIdTellsTheClientTheThreadAndTheTime() {
    HolderIds ids = at(1_795_381_142_127L);

    assertEquals(
        new HolderId(MORTISE, Library.MORTISE, Thread.currentThread().getId(), 1_795_381_142_127L),
        HolderId.of(ids.next(null)));
    Thread owner = new Thread(() -> {});
    assertEquals(owner.getId(), HolderId.of(ids.next(owner)).threadId());
    assertEquals(2, ids.made());
  }

  @Test
  void anIdThatIsMadeAheadIsInTheSameOrderAndTellsTheClientOnly() {
    HolderIds ids = at(0);
    for (int i = 1; i < 100; i++) {
      String ahead = ids.ahead();
      assertEquals(MORTISE + ":" + Integer.toString(i, 36), ahead);
      assertEquals(
          new HolderId(MORTISE, Library.MORTISE, HolderId.UNKNOWN, HolderId.UNKNOWN),
          HolderId.of(ahead));
    }
    assertTrue(ids.next(null).startsWith(MORTISE + ":" + Integer.toString(100, 36) + "-"));
  }

  @Test
  void theIdOfAWriterKeepsASmallHashCompact() {
    String hold = HolderId.text(MORTISE, 60_000_000, 1_500_000, 2_000_000_000_000L) + ":write";

    assertTrue(hold.length() <= COMPACT, () -> hold.length() + " characters");
  }

  @Test
  void anIdOfRedissonTellsTheClientAndTheThread() {
    assertEquals(
        new HolderId(REDISSON, Library.REDISSON, 57, HolderId.UNKNOWN),
        HolderId.of(REDISSON + ":57"));
  }

  @Test
  void anIdOfAnotherFormTellsNothing() {
    for (String other :
        new String[] {"", "stranger:1", REDISSON, MORTISE + ":", MORTISE + ":1-2"}) {
      assertEquals(Library.UNKNOWN, HolderId.of(other).maker(), other);
    }
  }
}
