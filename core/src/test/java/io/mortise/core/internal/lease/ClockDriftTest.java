package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClockDriftTest {

  @ParameterizedTest
  @CsvSource({
    "0.01, 30000, 302000000", // 1 % and 2 ms
    "0.01, 1000, 12000000",
    "0.01, 100, 3000000",
    "0.01, 4, 2000000", // never more than half of it
    "0.01, 1, 500000",
    "0, 1000, 2000000",
    "0.5, 1000, 500000000",
  })
  void isAShareAndTwoMillisecondsButAtMostHalf(double share, long leaseMillis, long driftNanos) {
    assertEquals(driftNanos, new ClockDrift(share).nanos(leaseMillis * 1_000_000));
  }
}
