package io.mortise.cli.timeline;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class LineUpTest {

  /** They came in at these times, in the order of asking. */
  private static LineUp lineUp(long... entered) {
    return new LineUp(
        "lock", LongStream.of(entered).mapToObj(at -> new Hold(0, 0, 1, 0, at, at + 1)).toList());
  }

  @Test
  void whoComesInAsItAskedIsNotOvertaken() {
    assertEquals(List.of(0, 1, 2), lineUp(10, 20, 30).entered());
    assertEquals(0, lineUp(10, 20, 30).overtaken());
    assertEquals(0, lineUp().overtaken());
  }

  @Test
  void theLastThatComesInFirstOvertakesAllOthers() {
    assertEquals(List.of(2, 0, 1), lineUp(20, 30, 10).entered());
    assertEquals(2, lineUp(20, 30, 10).overtaken());
  }

  @Test
  void whoIsOvertakenBySeveralCountsOnce() {
    assertEquals(1, lineUp(30, 10, 20).overtaken());
  }

  @Test
  void askingLaterByLessThanTheToleranceIsNotOvertaking() {
    List<Hold> holds = List.of(new Hold(0, 0, 1, 100, 300, 310), new Hold(1, 0, 2, 150, 200, 210));
    assertEquals(1, LineUp.overtaken(holds, 49));
    assertEquals(0, LineUp.overtaken(holds, 50));
  }
}
