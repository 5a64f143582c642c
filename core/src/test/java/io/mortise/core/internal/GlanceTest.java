package io.mortise.core.internal;

import static io.mortise.core.internal.Glance.LATE_NANOS;
import static io.mortise.core.internal.Glance.LONGEST_NANOS;
import static io.mortise.core.internal.Glance.MOST_IN_VAIN;
import static io.mortise.core.internal.Glance.MOST_LATE;
import static io.mortise.core.internal.Glance.PAUSE_NANOS;
import static io.mortise.core.internal.Glance.SELDOM;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

/** When a thread looks before it sleeps. */
class GlanceTest {
  private static final int CROWD = 8;

  private long now;
  private int pauses;
  private long pauseNanos = 1_000;
  private long arrivesNanos = Long.MAX_VALUE;
  private final Glance glance =
      new Glance(
          LONGEST_NANOS,
          () -> now,
          () -> {
            pauses++;
            now += pauseNanos;
          });

  /** Whether what comes after so long is seen. */
  private boolean sees(long afterNanos) {
    arrivesNanos = now + afterNanos;
    return glance.at(() -> now >= arrivesNanos, CROWD);
  }

  private boolean looks() {
    int before = pauses;
    sees(2 * LONGEST_NANOS);
    return pauses > before;
  }

  @Test
  void whatIsThereIsSeenWithoutWaiting() {
    assertTrue(sees(0));

    assertEquals(0, pauses);
  }

  @Test
  void whatComesWithinTheMomentIsSeen() {
    assertTrue(sees(5_000));

    assertEquals(5, pauses);
  }

  @Test
  void whatComesLaterIsNotWaitedFor() {
    assertFalse(sees(2 * LONGEST_NANOS));

    assertEquals(LONGEST_NANOS, now);
  }

  @Test
  void aServerThatIsNotNearIsNotLookedForButOnceInAWhile() {
    for (int i = 0; i < MOST_IN_VAIN * CROWD; i++) {
      assertTrue(looks());
    }
    assertFalse(looks());
    now += PAUSE_NANOS;

    assertTrue(looks());
  }

  @Test
  void oneThatIsNearNowAndThenIsLookedForAllTheTime() {
    for (int i = 0; i < 10 * MOST_IN_VAIN * CROWD; i++) {
      assertTrue(i % CROWD == 0 ? sees(1_000) : looks());
    }
  }

  @Test
  void nobodyLooksWhereOthersWantTheProcessors() {
    pauseNanos = CROWD * LATE_NANOS + 1;
    for (int i = 0; i < MOST_LATE * CROWD; i++) {
      assertTrue(sees(1_000));
    }

    assertFalse(sees(1_000));
    now += PAUSE_NANOS;

    assertTrue(sees(1_000));
  }

  @Test
  void aLateOneNowAndThenIsForgiven() {
    for (int i = 0; i < 10 * MOST_LATE * CROWD * SELDOM; i++) {
      pauseNanos = i % (SELDOM + 1) == 0 ? CROWD * LATE_NANOS + 1 : 1_000;
      assertTrue(sees(1_000));
    }
  }

  @Test
  void tooManyLateOnesAreNot() {
    int seen = 0;
    while (sees(1_000)) {
      pauseNanos = ++seen % (SELDOM / 2) == 0 ? CROWD * LATE_NANOS + 1 : 1_000;
      assertTrue(seen < 10 * MOST_LATE * CROWD * SELDOM, "nobody ever stopped looking");
    }
  }
}
