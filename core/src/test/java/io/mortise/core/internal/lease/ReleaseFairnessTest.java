package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.spi.LockProtocol;
import org.junit.jupiter.api.Test;

class ReleaseFairnessTest {
  private static final long LONGEST = 1_000_000;
  private static final long SHORTEST = 50_000;

  private final LockProtocol lock = new FakeProtocol("it");
  private final ReleaseFairness fairness = new ReleaseFairness(0);

  private long pause(long now) {
    return fairness.pauseNanos(lock, now);
  }

  @Test
  void aReleaseThatOthersHaveHeardBeginsAPause() {
    fairness.onReleased(lock, 1, 5_000);
    assertEquals(LONGEST, pause(5_000));
    assertEquals(LONGEST - 300, pause(5_300));
    assertEquals(0, pause(5_000 + LONGEST));
  }

  @Test
  void aReleaseThatNobodyHasHeardBeginsNoPause() {
    fairness.onReleased(lock, 2, 0);
    fairness.onReleased(lock, 0, 10);
    assertEquals(0, pause(10));
  }

  @Test
  void thePauseIsHalvedEachTimeThatNoOtherClientAcquiresAndIsFullAgainAfterOneDid() {
    for (long expected = LONGEST;
        expected > SHORTEST;
        expected = Math.max(SHORTEST, expected / 2)) {
      fairness.onReleased(lock, 1, 0);
      assertEquals(expected, pause(0));
      fairness.onAttempt(lock, true);
    }
    fairness.onReleased(lock, 1, 0);
    assertEquals(SHORTEST, pause(0), "no shorter");
    fairness.onAttempt(lock, false);
    fairness.onReleased(lock, 1, 0);
    assertEquals(LONGEST, pause(0));
  }

  @Test
  void aLaterReleaseOfAnyLockRemovesOldEntries() {
    for (int i = 0; i < 100; i++) {
      fairness.onReleased(new FakeProtocol("lock" + i), 1, 0);
    }
    assertEquals(100, fairness.size());

    fairness.onReleased(lock, 0, 20_000_000_000L);

    assertEquals(0, fairness.size());
  }

  @Test
  void locksPauseIndependently() {
    fairness.onReleased(lock, 1, 0);
    LockProtocol other = new FakeProtocol("other");
    assertEquals(0, fairness.pauseNanos(other, 0));
    fairness.onAttempt(other, false);
    assertEquals(0, fairness.pauseNanos(other, 0));
  }
}
