package io.mortise.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class DistanceTest {
  private final Distance distance = new Distance();

  private void note(long nanos) {
    distance.note(nanos + Distance.SERVICE_NANOS, 1);
  }

  private void note(int times, long nanos) {
    for (int i = 0; i < times; i++) {
      note(nanos);
    }
  }

  @Test
  void nothingIsKnownAtFirst() {
    assertEquals(0, distance.nanos());
  }

  @Test
  void itIsTheShortestTimeAndNotTheUsualOne() {
    note(500);
    note(70);
    note(20, 900);

    assertEquals(70, distance.nanos());
  }

  @Test
  void aServerThatHasMovedAwayIsFartherSoon() {
    note(Distance.STRETCH, 70);
    note(Distance.STRETCH - 1, 900);
    assertEquals(70, distance.nanos());

    note(900);

    assertEquals(900, distance.nanos());
  }

  @Test
  void oneThatHasComeNearerIsNearerAtOnce() {
    note(Distance.STRETCH, 900);

    note(70);

    assertEquals(70, distance.nanos());
  }

  @Test
  void whatTheServerHasToDoIsNotPartOfTheWay() {
    distance.note(300_000, 40);
    assertEquals(0, distance.nanos());
    note(Distance.STRETCH * 2, 1_000_000);

    distance.note(1_000_000, 10);

    assertEquals(1_000_000 - 10 * Distance.SERVICE_NANOS, distance.nanos());
  }
}
