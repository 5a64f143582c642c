package io.mortise.cli.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.timeline.Timeline.Frame;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimeScaleTest {

  @Test
  void ticksAreRoundNumbersFromTheZeroOfTheAxis() {
    TimeScale scale =
        new TimeScale(new Frame(0, 2_300 * Samples.MILLI, 150 * Samples.MILLI, "x"), 0, 1000);
    assertEquals(
        List.of("0", "500", "1000", "1500", "2000"),
        scale.ticks().stream().map(TimeScale.Tick::label).toList());
  }

  @Test
  void whatLiesOutsideIsAtTheEdge() {
    TimeScale scale = new TimeScale(new Frame(100, 200, 0, "x"), 10, 100);
    assertEquals(10, scale.x(0));
    assertEquals(60, scale.x(150));
    assertEquals(110, scale.x(1000));
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 1, 300_000, 1_000_000, 99_000_000, 61_000_000_000L})
  void ticksAreFewHoweverLongItTook(long nanos) {
    assertTrue(new TimeScale(new Frame(0, nanos, 0, "x"), 0, 1000).ticks().size() <= 12);
  }
}
