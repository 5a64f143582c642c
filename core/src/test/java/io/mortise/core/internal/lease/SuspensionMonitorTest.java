package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.FakeTicker;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** The holds are verified when the wall clock has advanced further than the client's clock. */
class SuspensionMonitorTest {
  private static final Duration PERIOD = Duration.ofMillis(500);

  private final FakeTicker ticker = new FakeTicker();
  private Instant wall = Instant.parse("2030-01-01T00:00:00Z");
  private boolean inUse = true;
  private Runnable duringLook = () -> {};
  private int rescheduled;
  private int verified;
  private final SuspensionMonitor monitor =
      new SuspensionMonitor(
          ticker, () -> wall, this::isInUse, task -> rescheduled++, millis -> verified++);

  private boolean isInUse() {
    boolean seen = inUse;
    Runnable once = duringLook;
    duringLook = () -> {};
    once.run();
    return seen;
  }

  private void pass(Duration onBothClocks) {
    ticker.advance(onBothClocks.toNanos());
    wall = wall.plus(onBothClocks);
  }

  /** Lets the time of one look pass, and runs it. */
  private void look() {
    pass(PERIOD);
    assertEquals(0, monitor.dueNanos() - ticker.read(), "due now");
    monitor.onDue(ticker.read());
  }

  private void assertIdle() {
    assertTrue(monitor.dueNanos() - ticker.read() > Duration.ofMinutes(1).toNanos());
  }

  @Test
  void clocksThatAdvanceTogetherVerifyNothing() {
    monitor.watch();
    look();
    look();

    assertEquals(0, verified);
  }

  @Test
  void aSuspensionIsNoticedAtTheNextLookAndOnce() {
    monitor.watch();
    look();
    wall = wall.plusSeconds(60); // and the ticker stood still
    look();
    assertEquals(1, verified);

    look();
    assertEquals(1, verified);
  }

  @Test
  void oneBeforeTheFirstLookToo() {
    monitor.watch();
    wall = wall.plusMillis(300);
    look();

    assertEquals(1, verified);
  }

  @Test
  void aClockThatIsSlewedOrSetBackVerifiesNothing() {
    monitor.watch();
    wall = wall.plusMillis(200);
    look();
    wall = wall.minusSeconds(60);
    look();

    assertEquals(0, verified);
  }

  /** The looks for a minute after the last use. */
  private void lookUntilIdle() {
    inUse = false;
    for (int i = 0; i < 121; i++) {
      look();
    }
  }

  @Test
  void nothingIsDueAMinuteAfterTheLastUse() {
    assertIdle();
    monitor.watch();
    lookUntilIdle();
    assertIdle();

    wall = wall.plusSeconds(60);
    monitor.watch();
    look();
    assertEquals(0, verified, "the clocks are read when the attempt begins");
    assertEquals(2, rescheduled);
  }

  @Test
  void anAttemptThatIsUnderWayIsWatchedWithoutAHold() {
    inUse = false;
    monitor.watch();
    look();
    look();
    wall = wall.plusSeconds(60);
    look();

    assertEquals(1, verified);
  }

  @Test
  void anAttemptThatBeginsDuringTheLastLookIsWatched() {
    monitor.watch();
    inUse = false;
    for (int i = 0; i < 120; i++) {
      look();
    }
    duringLook = monitor::watch;
    look();

    look();
    assertEquals(0, verified);
  }

  @Test
  void onlyTheFirstOfManyHoldsWakesTheScheduler() {
    monitor.watch();
    monitor.watch();
    look();
    monitor.watch();

    assertEquals(1, rescheduled);
  }

  @Test
  void anErrorLeavesTheBeginningToTheNextHold() {
    boolean[] fails = {true};
    SuspensionMonitor broken =
        new SuspensionMonitor(
            ticker,
            () -> wall,
            () -> true,
            task -> {
              if (fails[0]) {
                throw new OutOfMemoryError("on purpose");
              }
              rescheduled++;
            },
            millis -> verified++);
    assertThrows(OutOfMemoryError.class, broken::watch);
    fails[0] = false;
    broken.watch();

    assertEquals(1, rescheduled);
  }
}
