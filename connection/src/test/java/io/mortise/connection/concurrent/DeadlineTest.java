package io.mortise.connection.concurrent;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.FakeTicker;
import org.junit.jupiter.api.Test;

class DeadlineTest {
  private final FakeTicker ticker = new FakeTicker();

  @Test
  void itPassesWhenItsOwnClockSaysSo() {
    Deadline deadline = Deadline.after(10, ticker);
    ticker.advance(9);
    assertEquals(1, deadline.leftNanos());
    assertFalse(deadline.hasPassed());
    ticker.advance(1);
    assertTrue(deadline.hasPassed());
  }

  @Test
  void aDeadlineWithinAnotherIsTheEarlierOfTheTwo() {
    Deadline deadline = Deadline.after(10, ticker);
    ticker.advance(4);
    assertEquals(5, deadline.within(5).leftNanos());
    assertEquals(6, deadline.within(7).leftNanos());
  }

  @Test
  void aClockThatOverflowsIsNoHarm() {
    ticker.advance(Long.MAX_VALUE - 1);
    Deadline deadline = Deadline.after(10, ticker);
    assertEquals(10, deadline.leftNanos());
    assertEquals(5, deadline.within(5).leftNanos());
    ticker.advance(10);
    assertTrue(deadline.hasPassed());
  }

  @Test
  void theTimeOutOfASocketIsRoundedUpAndNeverZero() {
    assertEquals(2, Deadline.after(1_000_001, ticker).leftMillis());
    assertEquals(1, Deadline.after(1_000_000, ticker).leftMillis());
    assertEquals(1, Deadline.after(-1_000_000, ticker).leftMillis());
    assertEquals(Integer.MAX_VALUE, Deadline.after(Long.MAX_VALUE, ticker).leftMillis());
  }
}
