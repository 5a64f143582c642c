package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.core.LockClient;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.spi.LeaseTerms;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * An error while the outcome of a request is delivered ends the request: the hold is verified
 * again.
 */
@Timeout(60)
class ErrorAtReplyTest {
  private static final LeaseTerms GIVEN = new LeaseTerms(0, 600_000, false, false);
  private static final LeaseTerms RENEWED = new LeaseTerms(0, 30_000, true, false);
  private static final long CONFIRMED = 1;
  private static final long MISSING = 0;

  private final RedisLockClient client = (RedisLockClient) LockClient.create("redis://127.0.0.1:1");
  private final FragileTicker ticker = new FragileTicker(Ticker.systemTicker());

  private final LeaseContext context = TestContext.unsent(client.context().lease(), ticker);
  private final LeaseRenewal renewal = new HoldParts(context, GIVEN).renewal;

  @AfterEach
  void close() {
    client.close();
  }

  private void assertVerifiedAgainAfter(Runnable outcome) {
    renewal.onDue(context.nanos());
    assertTrue(renewal.isVerifying());
    ticker.fillHeapOnce();

    assertThrows(OutOfMemoryError.class, outcome::run);

    assertEquals(1, ticker.failures());
    assertFalse(renewal.isVerifying());
    renewal.onDue(context.nanos());
    assertTrue(renewal.isVerifying());
  }

  @Test
  void afterAReply() {
    assertVerifiedAgainAfter(() -> renewal.onReply(CONFIRMED, System.nanoTime()));
  }

  /** The reply may have said that the hold is gone. */
  @Test
  void afterAReplyThatWasNotAppliedTheHoldIsNotHandedOff() {
    HoldParts parts = new HoldParts(context, RENEWED);
    parts.renewal.onDue(context.nanos());
    ticker.fillHeapOnce();

    assertThrows(OutOfMemoryError.class, () -> parts.renewal.onReply(MISSING, System.nanoTime()));

    assertFalse(parts.renewal.isVerifying());
    assertFalse(parts.renewal.isSettled());
    assertTrue(parts.renewal.dueNanos() - context.nanos() <= LeaseRenewal.LOSS_CHECK_NANOS);
  }

  @Test
  void afterAFailure() {
    CommandException fault = new CommandException(Kind.UNREACHABLE, true, "on purpose", null);
    assertVerifiedAgainAfter(() -> renewal.onFailure(fault));
    assertFalse(renewal.isSettled());
  }
}
