package io.mortise.core.internal.acquire;

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
    fairness.onReleased(lock, 1, 0, 5_000);
    assertEquals(LONGEST, pause(5_000));
    assertEquals(LONGEST - 300, pause(5_300));
    assertEquals(0, pause(5_000 + LONGEST));
  }

  @Test
  void aReleaseThatNobodyHasHeardBeginsNoPause() {
    fairness.onReleased(lock, 2, 0, 0);
    fairness.onReleased(lock, 0, 3, 10);
    assertEquals(0, pause(10));
    fairness.onReleaseHeard(lock, 4, 20);
    assertEquals(0, pause(20));
  }

  @Test
  void thePauseIsHalvedEachTimeThatNoOtherClientAcquiresAndIsFullAgainAfterOneDid() {
    for (long expected = LONGEST;
        expected > SHORTEST;
        expected = Math.max(SHORTEST, expected / 2)) {
      fairness.onReleased(lock, 1, 0, 0);
      assertEquals(expected, pause(0));
      fairness.onAttempt(lock, true);
    }
    fairness.onReleased(lock, 1, 0, 0);
    assertEquals(SHORTEST, pause(0), "no shorter");
    fairness.onAttempt(lock, false);
    fairness.onReleased(lock, 1, 0, 0);
    assertEquals(LONGEST, pause(0));
  }

  /** Three other clients heard the release, and each of their holds ends with a message. */
  @Test
  void thePauseLastsForAsManyReleasesAsThereWereOtherSubscribers() {
    fairness.onReleased(lock, 3, 7, 0);
    fairness.onReleaseHeard(lock, 8, 10); // its own message
    assertEquals(LONGEST, pause(10));
    fairness.onReleaseHeard(lock, 9, 20);
    assertEquals(LONGEST, pause(20), "the first of them has released");
    fairness.onReleaseHeard(lock, 10, 30);
    assertEquals(LONGEST, pause(30), "the second");
    fairness.onReleaseHeard(lock, 11, 40);
    assertEquals(0, pause(40), "the third");
    fairness.onReleaseHeard(lock, 12, 50);
    assertEquals(0, pause(50));
  }

  /** A channel that was left and subscribed again counts from 0. */
  @Test
  void thePauseEndsWithItsChannel() {
    fairness.onReleased(lock, 1, 1_000, 0);
    fairness.onReleaseHeard(lock, 1, 5 * LONGEST);
    assertEquals(0, pause(5 * LONGEST));
  }

  /** Many subscribers may only linger. */
  @Test
  void theNumberOfReleasesToWaitForIsLimited() {
    fairness.onReleased(lock, 50, 0, 0);
    fairness.onReleaseHeard(lock, ReleaseFairness.MAX_YIELDS, 10);
    assertEquals(LONGEST, pause(10));
    fairness.onReleaseHeard(lock, 1 + ReleaseFairness.MAX_YIELDS, 20);
    assertEquals(0, pause(20));
  }

  @Test
  void releasesThatWereMissedOneByOneCountAsWell() {
    fairness.onReleased(lock, 3, 7, 0);
    fairness.onReleaseHeard(lock, 11, 10);
    assertEquals(0, pause(10));
  }

  @Test
  void locksPauseIndependently() {
    fairness.onReleased(lock, 1, 0, 0);
    LockProtocol other = new FakeProtocol("other");
    assertEquals(0, fairness.pauseNanos(other, 0));
    fairness.onReleaseHeard(other, 1, 0);
    fairness.onAttempt(other, false);
    assertEquals(0, fairness.pauseNanos(other, 0));
  }
}
