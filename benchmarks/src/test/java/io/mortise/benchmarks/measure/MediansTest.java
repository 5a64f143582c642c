package io.mortise.benchmarks.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Medians, and ratios round by round. */
class MediansTest {
  @Test
  void theMedianIsTheMiddleOneOrTheMeanOfTwo() {
    assertEquals(3, Medians.of(List.of(9.0, 1.0, 3.0)));
    assertEquals(2.5, Medians.of(List.of(4.0, 1.0, 3.0, 2.0)));
    assertEquals(7, Medians.of(List.of(7.0)));
  }

  @Test
  void whatWasNotMeasuredDoesNotCount() {
    assertEquals(2, Medians.of(List.of(Double.NaN, 1.0, 3.0)));
    assertEquals(Double.NaN, Medians.of(List.of()));
    assertEquals(Double.NaN, Medians.of(List.of(Double.NaN)));
  }

  /** The machine was half as fast in two of three rounds, and not in the same ones for medians. */
  @Test
  void theRatioIsThatOfEachRoundAndNotOfTheMedians() {
    List<Sample> ours = List.of(ops(100), ops(50), ops(400));
    List<Sample> theirs = List.of(ops(50), ops(20), ops(100));
    assertEquals(2.5, Medians.ofRatios(ours, theirs, Sample::opsPerSecond));
  }

  @Test
  void aRoundWithoutAnAnswerOfTheOtherMakesNoRatio() {
    List<Sample> ours = List.of(ops(100), ops(30), ops(10));
    List<Sample> theirs = List.of(ops(0), ops(10));
    assertEquals(3, Medians.ofRatios(ours, theirs, Sample::opsPerSecond));
    assertEquals(Double.NaN, Medians.ofRatios(ours, List.of(), Sample::opsPerSecond));
  }

  private static Sample ops(double perSecond) {
    return new Sample(perSecond, new Latencies(), 2, Map.of(), null);
  }
}
