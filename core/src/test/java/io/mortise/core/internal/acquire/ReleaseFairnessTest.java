package io.mortise.core.internal.acquire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.spi.LockProtocol;
import org.junit.jupiter.api.Test;

class ReleaseFairnessTest {
  private static final long MOST = 1_000_000;
  private static final long LEAST = 50_000;

  private final LockProtocol lock = new FakeProtocol("it");
  private final ReleaseFairness courtesy = new ReleaseFairness();

  private long pause(long now) {
    return courtesy.pauseNanos(lock, now);
  }

  @Test
  void whoReleasesWhatOthersHaveHeardWaitsAMoment() {
    courtesy.onReleased(lock, 1, 0, 5_000);
    assertEquals(MOST, pause(5_000));
    assertEquals(MOST - 300, pause(5_300));
    assertEquals(0, pause(5_000 + MOST));
  }

  @Test
  void nobodyWaitsForThoseWhoHaveNotHeard() {
    courtesy.onReleased(lock, 2, 0, 0);
    courtesy.onReleased(lock, 0, 3, 10);
    assertEquals(0, pause(10));
    courtesy.onReleaseHeard(lock, 4, 20);
    assertEquals(0, pause(20));
  }

  @Test
  void theMomentIsShorterEachTimeThatNobodyTookItAndLongAgainWhenSomebodyDid() {
    for (long expected = MOST; expected > LEAST; expected = Math.max(LEAST, expected / 2)) {
      courtesy.onReleased(lock, 1, 0, 0);
      assertEquals(expected, pause(0));
      courtesy.onAttempt(lock, true);
    }
    courtesy.onReleased(lock, 1, 0, 0);
    assertEquals(LEAST, pause(0), "no shorter");
    courtesy.onAttempt(lock, false);
    courtesy.onReleased(lock, 1, 0, 0);
    assertEquals(MOST, pause(0));
  }

  /**
   * Three others heard it: after their three turns, of which each ends with a message, it is in.
   */
  @Test
  void asManyHaveTheirTurnAsHaveHeard() {
    courtesy.onReleased(lock, 3, 7, 0);
    courtesy.onReleaseHeard(lock, 8, 10); // its own message
    assertEquals(MOST, pause(10));
    courtesy.onReleaseHeard(lock, 9, 20);
    assertEquals(MOST, pause(20), "the first has had its turn");
    courtesy.onReleaseHeard(lock, 10, 30);
    assertEquals(MOST, pause(30), "the second");
    courtesy.onReleaseHeard(lock, 11, 40);
    assertEquals(0, pause(40), "the third: it is our turn");
    courtesy.onReleaseHeard(lock, 12, 50);
    assertEquals(0, pause(50));
  }

  /** A channel that was left and subscribed again counts from 0. */
  @Test
  void aTurnEndsWithItsChannel() {
    courtesy.onReleased(lock, 1, 1_000, 0);
    courtesy.onReleaseHeard(lock, 1, 5 * MOST);
    assertEquals(0, pause(5 * MOST));
  }

  /** Those who have heard may be many that only linger. */
  @Test
  void noMoreThanAFewGoFirst() {
    courtesy.onReleased(lock, 50, 0, 0);
    courtesy.onReleaseHeard(lock, ReleaseFairness.MOST_TURNS, 10);
    assertEquals(MOST, pause(10));
    courtesy.onReleaseHeard(lock, 1 + ReleaseFairness.MOST_TURNS, 20);
    assertEquals(0, pause(20));
  }

  @Test
  void releasesThatNobodyWasThereToHearOneByOneCountAsWell() {
    courtesy.onReleased(lock, 3, 7, 0);
    courtesy.onReleaseHeard(lock, 11, 10);
    assertEquals(0, pause(10));
  }

  @Test
  void locksDoNotWaitForEachOther() {
    courtesy.onReleased(lock, 1, 0, 0);
    LockProtocol other = new FakeProtocol("other");
    assertEquals(0, courtesy.pauseNanos(other, 0));
    courtesy.onReleaseHeard(other, 1, 0);
    courtesy.onAttempt(other, false);
    assertEquals(0, courtesy.pauseNanos(other, 0));
  }
}
