package io.mortise.cli.timeline;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.cli.timeline.Gaps.Gap;
import java.util.List;
import org.junit.jupiter.api.Test;

class GapsTest {

  private static Hold hold(long entered, long left) {
    return new Hold(0, 0, 1, 0, entered, left);
  }

  @Test
  void aGapIsWhereNobodyWasInsideInWhateverOrderTheyWereReported() {
    assertEquals(
        List.of(new Gap(20, 50), new Gap(60, 61)),
        Gaps.between(List.of(hold(61, 70), hold(10, 20), hold(50, 60))));
  }

  @Test
  void thereIsNoGapWhileALongOneIsInside() {
    assertEquals(List.of(), Gaps.between(List.of(hold(0, 100), hold(10, 20), hold(50, 110))));
    assertEquals(List.of(), Gaps.between(List.of()));
  }

  @Test
  void serversThatAreAwayAreCounted() {
    List<Outage> outages = List.of(new Outage(0, 10, 30), new Outage(3, 20, 40));
    assertEquals(0, Outage.countAt(outages, 9));
    assertEquals(1, Outage.countAt(outages, 10));
    assertEquals(2, Outage.countAt(outages, 29));
    assertEquals(1, Outage.countAt(outages, 30));
    assertEquals(0, Outage.countAt(outages, 40));
  }
}
