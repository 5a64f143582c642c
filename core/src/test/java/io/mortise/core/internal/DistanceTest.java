package io.mortise.core.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class DistanceTest {
  private final Distance distance = new Distance();

  private void note(int times, long nanos) {
    for (int i = 0; i < times; i++) {
      distance.note(nanos);
    }
  }

  @Test
  void nothingIsKnownAtFirst() {
    assertEquals(0, distance.nanos());
  }

  @Test
  void itIsTheShortestTimeAndNotTheUsualOne() {
    distance.note(500);
    distance.note(70);
    note(20, 900);

    assertEquals(70, distance.nanos());
  }

  @Test
  void aServerThatHasMovedAwayIsFartherSoon() {
    note(Distance.STRETCH, 70);
    note(Distance.STRETCH - 1, 900);
    assertEquals(70, distance.nanos());

    note(1, 900);

    assertEquals(900, distance.nanos());
  }

  @Test
  void oneThatHasComeNearerIsNearerAtOnce() {
    note(Distance.STRETCH, 900);

    distance.note(70);

    assertEquals(70, distance.nanos());
  }
}
