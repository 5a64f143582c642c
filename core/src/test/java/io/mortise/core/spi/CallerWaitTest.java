package io.mortise.core.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.FakeTicker;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The wait of an acquisition: its time, its pauses, and the interrupts during it. */
@Timeout(60)
class CallerWaitTest {
  private static final long HOUR_NANOS = TimeUnit.HOURS.toNanos(1);

  private static CallerWait wait(long nanos, boolean interruptible) {
    return new CallerWait(
        new LeaseTerms(nanos, 1_000, true, interruptible), new FakeSource("orders"));
  }

  @AfterEach
  void forgetInterrupts() {
    var unused = Thread.interrupted();
  }

  @Test
  void theTimeLeftEndsUnlessTheWaitIsUnbounded() {
    assertTrue(wait(0, true).leftNanos() <= 0);
    CallerWait hour = wait(HOUR_NANOS, true);
    long left = hour.leftNanos();
    assertTrue(left <= HOUR_NANOS && left > HOUR_NANOS / 2, () -> left + " ns");
    assertTrue(wait(LeaseTerms.FOREVER, true).leftNanos() > HOUR_NANOS);
  }

  @Test
  void aPauseEndsWithTheWait() throws Exception {
    wait(1_000_000, true).pause(HOUR_NANOS);
    wait(0, true).pause(HOUR_NANOS);
  }

  @Test
  void anInterruptEndsAnInterruptibleWait() {
    Thread.currentThread().interrupt();
    assertEquals(
        "interrupted while waiting for lock 'orders'",
        assertThrows(InterruptedException.class, () -> wait(HOUR_NANOS, true).pause(HOUR_NANOS))
            .getMessage());
    assertFalse(Thread.currentThread().isInterrupted());

    Thread.currentThread().interrupt();
    assertEquals(
        "interrupted while waiting for lock 'orders'",
        assertThrows(InterruptedException.class, wait(HOUR_NANOS, true)::checkInterrupt)
            .getMessage());
  }

  @Test
  void anInterruptOfAnotherWaitIsRestoredAtItsEnd() throws Exception {
    CallerWait wait = wait(HOUR_NANOS, false);
    Thread.currentThread().interrupt();
    wait.pause(1_000_000);
    assertFalse(Thread.currentThread().isInterrupted());

    wait.restoreInterrupt();

    assertTrue(Thread.interrupted());

    CallerWait checked = wait(HOUR_NANOS, false);
    Thread.currentThread().interrupt();
    checked.checkInterrupt();
    assertFalse(Thread.currentThread().isInterrupted());
    checked.restoreInterrupt();
    assertTrue(Thread.interrupted());
  }

  @Test
  void aWaitGoesOnAfterAnInterruptForTheRestOfItsTime() throws Exception {
    FakeTicker ticker = new FakeTicker();
    LeaseTerms terms = new LeaseTerms(100, 1_000, true, false);
    CallerWait wait = new CallerWait(terms, "orders", ticker::read);
    ticker.advance(10);
    List<Long> awaited = new ArrayList<>();

    wait.await(
        60,
        nanos -> {
          awaited.add(nanos);
          ticker.advance(25);
          if (awaited.size() == 1) {
            throw new InterruptedException();
          }
        });
    wait.await(60, nanos -> awaited.add(nanos));

    assertEquals(List.of(60L, 35L, 40L), awaited, "the last one ends with the wait");
    wait.restoreInterrupt();
    assertTrue(Thread.interrupted());
  }

  @Test
  void aBackoffIsHalfToAllOfADurationThatDoubles() {
    for (int failures = 0; failures < 10; failures++) {
      long full = Math.min(1_000, 100L << failures);
      long pause = CallerWait.backoffNanos(100, 1_000, failures, Math.random());
      assertTrue(full / 2 <= pause && pause <= full, pause + " after " + failures);
    }
  }
}
