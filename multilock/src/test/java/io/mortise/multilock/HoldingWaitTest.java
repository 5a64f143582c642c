package io.mortise.multilock;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntToLongFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class HoldingWaitTest {
  private static List<Long> millis(int from, int to, IntToLongFunction nanos) {
    return IntStream.range(from, to)
        .mapToLong(nanos)
        .map(TimeUnit.NANOSECONDS::toMillis)
        .boxed()
        .toList();
  }

  @Test
  void threeRoundsOfFourAreShortAndTheFourthIsLongerEachTime() {
    assertEquals(
        List.of(0L, 25L, 50L, 200L, 0L, 25L, 50L, 800L, 0L, 25L, 50L, 3_200L, 0L, 25L, 50L, 200L),
        millis(0, 16, HoldingWait::nanosAfter));
  }

  @Test
  void manyFailedRoundsAreNoOverflow() {
    assertEquals(HoldingWait.MAX_NANOS, HoldingWait.shortestNanosAfter(Integer.MAX_VALUE));
  }

  @Test
  void eachSlowRoundDoublesTheShortest() {
    assertEquals(
        List.of(0L, 50L, 100L, 200L, 400L, 800L, 1_600L, 3_200L, 3_200L),
        millis(0, 9, HoldingWait::shortestNanosAfter));
  }
}
