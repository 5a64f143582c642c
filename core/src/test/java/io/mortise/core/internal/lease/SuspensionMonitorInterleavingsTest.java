package io.mortise.core.internal.lease;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.testing.FakeTicker;
import java.time.Instant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The clocks are watched after an attempt has begun, whenever that was. */
@Tag("interleavings")
class SuspensionMonitorInterleavingsTest {
  private static final int SCHEDULES = 300;
  private static final long SOON = 1_000_000_000L;

  private static final long TWO_MINUTES = 120_000_000_000L;

  private static SuspensionMonitor monitor(Ticker ticker) {
    return new SuspensionMonitor(
        ticker, () -> Instant.EPOCH, () -> false, task -> {}, millis -> {});
  }

  private static void assertWatched(SuspensionMonitor monitor, Ticker ticker) {
    assertTrue(
        monitor.dueNanos() - ticker.read() <= SOON,
        () -> "the next look is at " + monitor.dueNanos());
  }

  @Test
  void anAttemptThatBeginsDuringALookIsWatched() {
    check(
        SCHEDULES,
        () -> {
          FakeTicker ticker = new FakeTicker();
          SuspensionMonitor monitor = monitor(ticker);
          race(monitor::watch, () -> monitor.onDue(0));
          assertWatched(monitor, ticker);
        });
  }

  @Test
  void anAttemptThatBeginsDuringTheLastLookIsWatched() {
    check(
        SCHEDULES,
        () -> {
          FakeTicker ticker = new FakeTicker();
          SuspensionMonitor monitor = monitor(ticker);
          monitor.watch();
          monitor.onDue(0);
          ticker.advance(TWO_MINUTES);
          race(monitor::watch, () -> monitor.onDue(TWO_MINUTES));
          assertWatched(monitor, ticker);
        });
  }
}
