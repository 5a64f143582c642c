package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.common.base.Ticker;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.lease.LeaseStatus.Phase;
import io.mortise.core.spi.LeaseTerms;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A hold with a lease of the caller's is not renewed, unless a level of re-entry needs that. */
@Timeout(60)
class GivenLeaseRenewalTest {
  private static final Duration MAX_HOLD = Duration.ofMinutes(1);
  private static final LeaseTerms GIVEN = new LeaseTerms(0, 3_600_000, false, false);
  private static final LeaseTerms RENEWED = new LeaseTerms(0, 30_000, true, false);

  private final RedisLockClient client =
      (RedisLockClient)
          LockClient.create("redis://127.0.0.1:1", LockOptions.builder().maxHold(MAX_HOLD).build());
  private long aheadNanos;

  /** How many readings of the clock succeed before one fails. */
  private int readings = Integer.MAX_VALUE;

  private final Ticker ticker =
      new Ticker() {
        @Override
        public long read() {
          if (readings-- == 0) {
            throw new OutOfMemoryError("on purpose");
          }
          return Ticker.systemTicker().read() + aheadNanos;
        }
      };

  private final LeaseContext context = TestContext.unsent(client.context().lease(), ticker);
  private final HoldParts hold = new HoldParts(context, GIVEN);

  @AfterEach
  void close() {
    client.close();
  }

  private void reenter() {
    reenter(hold, RENEWED);
  }

  private void reenter(HoldParts parts, LeaseTerms terms) {
    new LeaseExtension(
            context.commands(), context.holds(), ticker, parts.id, parts.timing, parts.renewal)
        .extendTo(terms);
  }

  /** A RedLock passes on the shortest lease of its clients, which may be shorter than their own. */
  @Test
  void aRenewalWithALeaseShorterThanTheDefaultBeginsInTime() {
    HoldParts brief = new HoldParts(context, new LeaseTerms(0, 3_500, false, false));

    reenter(brief, new LeaseTerms(0, 3_000, true, false));

    long untilNextNanos = brief.timing.nextRequestNanos() - ticker.read();
    assertTrue(untilNextNanos <= 1_200_000_000L, () -> "the next one in " + untilNextNanos + " ns");
  }

  @Test
  void anErrorInAReentryLeavesItWithoutRenewalWhereverItComes() {
    int succeeded = 0;
    boolean entered = false;
    while (!entered) {
      readings = succeeded++;
      try {
        reenter();
        entered = true;
      } catch (OutOfMemoryError full) {
        assertFalse(hold.timing.isRenewed(), "its caller has no level that would end the renewal");
      }
    }
    assertTrue(succeeded > 2, "no reading of the clock has failed");
    assertTrue(hold.timing.isRenewed());
  }

  /** Lets the time pass until the client's own lease is left. */
  private void advanceToLastLease() {
    aheadNanos += hold.timing.deadlineNanos() - ticker.read() - client.options().lease().toNanos();
  }

  private void verify() {
    hold.renewal.onDue(ticker.read());
    hold.renewal.onReply(1, ticker.read());
  }

  @Test
  void maxHoldDoesNotConcernIt() {
    advanceToLastLease();

    verify();

    assertFalse(hold.timing.isStopped());
    assertEquals(Phase.HELD, hold.state.now().phase());
  }

  /** The level may be exited in time; then the hold lasts as long as its caller has asked for. */
  @Test
  void aRenewalAfterMaxHoldPutsItAtRiskInTheLastLeaseOnly() {
    long deadline = hold.timing.deadlineNanos();
    aheadNanos = MAX_HOLD.toNanos();
    reenter();

    verify();

    assertEquals(Phase.HELD, hold.state.now().phase());
    assertFalse(hold.renewal.isSettled(), "nobody else may get it");
    assertEquals(deadline, hold.timing.deadlineNanos(), "it is not renewed after maxHold");

    advanceToLastLease();
    verify();

    assertEquals(Phase.AT_RISK, hold.state.now().phase());
    assertTrue(hold.timing.isStopped());
    assertEquals(deadline, hold.timing.deadlineNanos());
  }
}
