package io.mortise.core.composite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.spi.FakeSource;
import io.mortise.core.spi.LeaseTerms;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The wait for a composite lock: its time, its pauses, and the interrupts during it. */
@Timeout(60)
class CompositeWaitTest {
  private static final long HOUR_NANOS = TimeUnit.HOURS.toNanos(1);

  private static CompositeWait wait(long nanos, boolean interruptible) {
    return new CompositeWait(
        new FakeSource("orders"), new LeaseTerms(nanos, 1_000, true, interruptible));
  }

  @AfterEach
  void forgetInterrupts() {
    var unused = Thread.interrupted();
  }

  @Test
  void theTimeLeftEndsUnlessTheWaitIsUnbounded() {
    assertTrue(wait(0, true).leftNanos() <= 0);
    CompositeWait hour = wait(HOUR_NANOS, true);
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
    assertThrows(InterruptedException.class, () -> wait(HOUR_NANOS, true).pause(HOUR_NANOS));
    assertFalse(Thread.currentThread().isInterrupted());

    Thread.currentThread().interrupt();
    assertEquals(
        "interrupted while waiting for lock 'orders'",
        assertThrows(InterruptedException.class, wait(HOUR_NANOS, true)::checkInterrupt)
            .getMessage());
  }

  @Test
  void anInterruptOfAnotherWaitIsRestoredAtItsEnd() throws Exception {
    CompositeWait wait = wait(HOUR_NANOS, false);
    Thread.currentThread().interrupt();
    wait.pause(1_000_000);
    assertFalse(Thread.currentThread().isInterrupted());

    wait.restoreInterrupt();

    assertTrue(Thread.interrupted());

    CompositeWait checked = wait(HOUR_NANOS, false);
    Thread.currentThread().interrupt();
    checked.checkInterrupt();
    assertFalse(Thread.currentThread().isInterrupted());
    checked.restoreInterrupt();
    assertTrue(Thread.interrupted());
  }

  @Test
  void aBackoffIsHalfToAllOfADurationThatDoubles() {
    for (int failures = 0; failures < 10; failures++) {
      long full = Math.min(1_000, 100L << failures);
      long pause = CompositeWait.backoffNanos(100, 1_000, failures);
      assertTrue(full / 2 <= pause && pause <= full, pause + " after " + failures);
    }
  }
}
