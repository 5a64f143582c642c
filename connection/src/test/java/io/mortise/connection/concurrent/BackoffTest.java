package io.mortise.connection.concurrent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class BackoffTest {
  private static final double ALMOST_ONE = Math.nextDown(1.0);

  @Test
  void thePauseDoublesUpToTheMost() {
    Backoff backoff = new Backoff(100, 1000, () -> 0);

    assertEquals(50, backoff.nextNanos());
    assertEquals(100, backoff.nextNanos());
    assertEquals(200, backoff.nextNanos());
    assertEquals(400, backoff.nextNanos());
    assertEquals(500, backoff.nextNanos());
    assertEquals(500, backoff.nextNanos());
  }

  @Test
  void theMostIsTheMostAlsoOfTheFirstPause() {
    assertEquals(5, new Backoff(100, 10, () -> 0).nextNanos());
  }

  @Test
  void jitterIsBetweenHalfAndTheWhole() {
    assertEquals(500_000, new Backoff(1_000_000, 1_000_000, () -> 0).nextNanos());
    assertEquals(750_000, new Backoff(1_000_000, 1_000_000, () -> 0.5).nextNanos());
    assertEquals(1_000_000, new Backoff(1_000_000, 1_000_000, () -> ALMOST_ONE).nextNanos());

    Random random = new Random(7);
    Backoff backoff = new Backoff(1_000_000, 1_000_000, random::nextDouble);
    for (int i = 0; i < 1000; i++) {
      long pause = backoff.nextNanos();
      assertTrue(pause >= 500_000 && pause <= 1_000_000, () -> "pause of " + pause);
    }
  }

  @Test
  void aThousandFailuresDoNotOverflow() {
    Backoff backoff = new Backoff(1_000_000_000, 60_000_000_000L, () -> 0);
    for (int i = 0; i < 1000; i++) {
      long pause = backoff.nextNanos();
      assertTrue(pause >= 500_000_000 && pause <= 30_000_000_000L, () -> "pause of " + pause);
    }
    assertEquals(30_000_000_000L, backoff.nextNanos());
  }

  @Test
  void resetStartsFromTheFirstPause() {
    Backoff backoff = new Backoff(100, 1000, () -> 0);
    backoff.nextNanos();
    backoff.nextNanos();

    backoff.reset();

    assertEquals(50, backoff.nextNanos());
    assertEquals(100, backoff.nextNanos());
  }
}
