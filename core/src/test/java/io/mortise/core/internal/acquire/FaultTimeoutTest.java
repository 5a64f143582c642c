package io.mortise.core.internal.acquire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.pool.CommandException;
import io.mortise.connection.testing.FakeTicker;
import io.mortise.core.LockException;
import io.mortise.core.internal.handoff.FaultSeries;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockName;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FaultTimeoutTest {
  private static final Duration OUTAGE_TIMEOUT = Duration.ofSeconds(10);
  private static final long SECOND = 1_000_000_000L;
  private static final LeaseTerms UNBOUNDED = new LeaseTerms(LeaseTerms.FOREVER, 1_000, true, true);
  private static final LeaseTerms BOUNDED = new LeaseTerms(60 * SECOND, 1_000, true, true);

  private final CommandException fault =
      new CommandException(CommandException.Kind.UNREACHABLE, false, "no server", null);
  private final FakeTicker ticker = new FakeTicker();
  private final FaultTimeout unbounded = faultTimeout(UNBOUNDED);

  private FaultTimeout faultTimeout(LeaseTerms terms) {
    return new FaultTimeout(ticker, OUTAGE_TIMEOUT, () -> 0, new LockName("orders"), terms);
  }

  @Test
  void theTimeBeginsWithTheFirstFaultAndEndsWithAnAnswer() {
    unbounded.record(fault);
    ticker.advance(10 * SECOND - 1);
    unbounded.record(fault);
    assertFalse(unbounded.isExpired());
    ticker.advance(1);
    assertTrue(unbounded.isExpired());

    unbounded.record(null);

    assertFalse(unbounded.isExpired());
  }

  @Test
  void onlyAWaitWithoutAnEndIsEndedByTheTimeout() {
    FaultTimeout bounded = faultTimeout(BOUNDED);
    bounded.record(fault);
    unbounded.record(fault);
    unbounded.throwIfExpired();
    ticker.advance(10 * SECOND);

    bounded.throwIfExpired();
    LockException thrown = assertThrows(LockException.class, unbounded::throwIfExpired);

    assertTrue(
        String.valueOf(thrown.getMessage())
            .contains("as long as LockOptions.outageTimeout, PT10S, allows"),
        thrown::getMessage);
  }

  @Test
  void anOutageThatIsAdoptedCountsFromTheStartOfTheWaitAtTheEarliest() {
    unbounded.adopt(new FaultSeries(fault, -5 * SECOND, 0), 0);
    ticker.advance(10 * SECOND - 1);
    assertFalse(unbounded.isExpired());
    ticker.advance(1);
    assertTrue(unbounded.isExpired());

    unbounded.adopt(new FaultSeries(fault, 3 * SECOND, 0), 0);
    assertFalse(unbounded.isExpired());
    ticker.advance(3 * SECOND);
    assertTrue(unbounded.isExpired());
  }

  @Test
  void aTimeoutThatIsOverAtTheAdoptionEndsTheWaitIfTheLastFaultIsRecent() {
    ticker.advance(10 * SECOND);
    FaultSeries recent = new FaultSeries(fault, 0, 9 * SECOND + 1);

    assertThrows(LockException.class, () -> unbounded.adopt(recent, 0));
    faultTimeout(BOUNDED).adopt(recent, 0);
    unbounded.adopt(new FaultSeries(fault, 0, 9 * SECOND), 0);
    assertTrue(unbounded.isExpired());
    unbounded.adopt(null, 0);
    assertFalse(unbounded.isExpired());
  }

  @Test
  void eachPauseIsLongerThanTheOneBeforeUntilTheyBeginAgain() {
    assertEquals(10_000_000, unbounded.pauseNanos());
    assertEquals(20_000_000, unbounded.pauseNanos());

    unbounded.resetPause();

    assertEquals(10_000_000, unbounded.pauseNanos());
  }
}
