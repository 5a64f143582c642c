package io.mortise.cli.timeline;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class WaitsTest {

  private static Waits waits(LongStream nanos) {
    List<Hold> holds = nanos.mapToObj(wait -> new Hold(0, 0, 1, 0, wait, wait + 1)).toList();
    return Waits.of(holds);
  }

  @Test
  void sharesCountTheHolders() {
    Waits waits = waits(LongStream.rangeClosed(1, 100));
    assertEquals(50, waits.atMostNanos(0.5));
    assertEquals(99, waits.atMostNanos(0.99));
    assertEquals(100, waits.atMostNanos(1));
  }

  @Test
  void oneHolderIsEveryShare() {
    Waits waits = waits(LongStream.of(7));
    assertEquals(7, waits.atMostNanos(0));
    assertEquals(7, waits.atMostNanos(0.5));
    assertEquals(7, waits.atMostNanos(1));
  }

  @Test
  void nobodyWaitedForNothing() {
    assertEquals(0, waits(LongStream.empty()).atMostNanos(0.99));
  }
}
