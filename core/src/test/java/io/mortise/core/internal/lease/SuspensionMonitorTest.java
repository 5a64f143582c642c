package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.connection.testing.FakeTicker;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** The holds are verified when the wall clock has advanced further than the client's clock. */
class SuspensionMonitorTest {
  private static final Duration PERIOD = Duration.ofNanos(SuspensionMonitor.PERIOD_NANOS);

  private final FakeTicker ticker = new FakeTicker();
  private Instant wall = Instant.parse("2030-01-01T00:00:00Z");
  private boolean fails;
  private int verified;
  private final SuspensionMonitor monitor =
      new SuspensionMonitor(ticker, () -> wall, millis -> verify());

  private void verify() {
    if (fails) {
      throw new OutOfMemoryError("on purpose");
    }
    verified++;
  }

  /** Lets the time of one look pass on both clocks, and runs it. */
  private void look() {
    ticker.advance(PERIOD.toNanos());
    wall = wall.plus(PERIOD);
    monitor.look();
  }

  @Test
  void clocksThatAdvanceTogetherVerifyNothing() {
    look();
    look();

    assertEquals(0, verified);
  }

  @Test
  void aSuspensionIsNoticedAtTheNextLookAndOnce() {
    look();
    wall = wall.plusSeconds(60); // and the ticker stood still
    look();
    assertEquals(1, verified);

    look();
    assertEquals(1, verified);
  }

  @Test
  void oneBeforeTheFirstLookToo() {
    wall = wall.plusMillis(300);
    look();

    assertEquals(1, verified);
  }

  @Test
  void aClockThatIsSlewedOrSetBackVerifiesNothing() {
    wall = wall.plusMillis(200);
    look();
    wall = wall.minusSeconds(60);
    look();

    assertEquals(0, verified);
  }

  @Test
  void aVerificationThatAnErrorHasPreventedIsRepeatedAtTheNextLook() {
    wall = wall.plusSeconds(60);
    fails = true;
    assertThrows(OutOfMemoryError.class, this::look);
    fails = false;

    look();

    assertEquals(1, verified);
  }
}
