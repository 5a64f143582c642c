package io.mortise.cli.timeline;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.cli.timeline.Overlaps.Stretch;
import io.mortise.testkit.HoldLog.Mode;
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
        List.of(new Stretch(1, 0, 0, 10), new Stretch(1, 0, 10, 20)),
        Overlaps.stretches(List.of(hold(0, 10), hold(10, 20))));
  }

  @Test
  void eachChangeBeginsAStretch() {
    assertEquals(
        List.of(new Stretch(1, 0, 0, 5), new Stretch(2, 0, 5, 10), new Stretch(1, 0, 10, 20)),
        Overlaps.stretches(List.of(hold(5, 20), hold(0, 10))));
  }

  @Test
  void aGapIsNotInside() {
    assertEquals(
        List.of(new Stretch(1, 0, 0, 5), new Stretch(1, 0, 8, 9)),
        Overlaps.stretches(List.of(hold(0, 5), hold(8, 9))));
  }

  @Test
  void readersTogetherAreNoClashAndAWriterAmongThemIs() {
    Hold reader = new Hold(0, 0, Mode.SHARED, 1, 0, 0, 10);
    Hold other = new Hold(1, 0, Mode.SHARED, 1, 5, 5, 10);
    Hold writer = hold(9, 12);
    List<Stretch> stretches = Overlaps.stretches(List.of(reader, other, writer));
    assertEquals(
        List.of(
            new Stretch(0, 1, 0, 5),
            new Stretch(0, 2, 5, 9),
            new Stretch(1, 2, 9, 10),
            new Stretch(1, 0, 10, 12)),
        stretches);
    assertEquals(
        List.of(false, false, true, false), stretches.stream().map(Stretch::clashes).toList());
  }
}
