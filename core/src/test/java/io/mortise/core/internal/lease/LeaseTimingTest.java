package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockClient;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.spi.LeaseTerms;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LeaseTimingTest {
  private static final long SECOND = 1_000_000_000L;
  private static final LeaseTerms RENEWED = new LeaseTerms(0, 30_000, true, false);
  private static final LeaseTerms FIXED = new LeaseTerms(0, 10_000, false, false);

  private final RedisLockClient client = (RedisLockClient) LockClient.create("redis://127.0.0.1:1");
  private final LeaseContext context = client.context().lease();
  private final long now = context.nanos();

  @AfterEach
  void close() {
    client.close();
  }

  private LeaseTiming granted(LeaseTerms terms, long sentNanos) {
    return LeaseTiming.granted(
        context,
        new FakeProtocol("orders"),
        terms,
        new AttemptStart(sentNanos, context.holds().epoch()));
  }

  @Test
  void theLeaseCountsFromTheMomentBeforeTheRequestLessTheDrift() {
    LeaseTiming timing = granted(FIXED, now);

    assertEquals(now + 10 * SECOND - 102_000_000, timing.deadlineNanos());
    assertEquals(now + 10 * SECOND, timing.endInRedisNanos());
  }

  @Test
  void aConfirmationCountsFromTheMomentBeforeItsRequestLessTheDrift() {
    LeaseTiming timing = granted(FIXED, now);

    assertTrue(timing.confirm(now + SECOND, 10_000, context.holds().epoch()));

    assertEquals(now + 11 * SECOND - 102_000_000, timing.deadlineNanos());
  }

  @Test
  void theHoldIsCertainUntilTheEpochEndsAndAgainAfterAConfirmation() {
    LeaseTiming timing = granted(RENEWED, now);
    assertTrue(timing.isCertain());

    context.holds().endEpoch();
    assertFalse(timing.isCertain());

    assertTrue(timing.confirm(now + 1, 30_000, context.holds().epoch()));
    assertTrue(timing.isCertain());
    assertEquals(now + 1, timing.confirmedNanos());
  }

  @Test
  void theHoldIsNotCertainInTheLastThirdOfItsLease() {
    assertTrue(granted(RENEWED, now - 15 * SECOND).isCertain());
    assertFalse(granted(RENEWED, now - 20 * SECOND).isCertain());
  }

  @Test
  void aHoldThatHasEndedIsNotConfirmed() {
    LeaseTiming timing = granted(RENEWED, now);
    timing.deadline().end();

    assertFalse(timing.confirm(now + 1, 30_000, context.holds().epoch()));

    assertEquals(now, timing.confirmedNanos());
  }

  @Test
  void aHoldCoversAShorterLeaseAndAdoptsARenewedOne() {
    LeaseTiming timing = granted(FIXED, now);
    assertTrue(timing.covers(new LeaseTerms(0, 5_000, false, false)));
    assertFalse(timing.covers(RENEWED));

    timing.adopt(RENEWED);

    assertTrue(timing.covers(RENEWED));
    assertTrue(timing.isRenewed());
    assertEquals(30_000, timing.leaseMillis());
  }
}
