package io.mortise.cli.timeline;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.cli.timeline.Overlaps.Stretch;
import java.util.List;
import org.junit.jupiter.api.Test;

class OverlapsTest {

  private static Hold hold(long from, long to) {
    return new Hold(0, 0, 0, from, from, to);
  }

  @Test
  void nobodyInsideIsNoStretch() {
    assertEquals(List.of(), Overlaps.stretches(List.of()));
  }

  @Test
  void whoLeavesWhenAnotherEntersIsNotInsideWithIt() {
    assertEquals(
        List.of(new Stretch(1, 0, 10), new Stretch(1, 10, 20)),
        Overlaps.stretches(List.of(hold(0, 10), hold(10, 20))));
  }

  @Test
  void eachChangeBeginsAStretch() {
    assertEquals(
        List.of(new Stretch(1, 0, 5), new Stretch(2, 5, 10), new Stretch(1, 10, 20)),
        Overlaps.stretches(List.of(hold(5, 20), hold(0, 10))));
  }

  @Test
  void aGapIsNotInside() {
    assertEquals(
        List.of(new Stretch(1, 0, 5), new Stretch(1, 8, 9)),
        Overlaps.stretches(List.of(hold(0, 5), hold(8, 9))));
  }
}
