package io.mortise.core.internal.lease;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.connection.testing.FakeTicker;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.internal.engine.FakeProtocol;
import io.mortise.core.internal.engine.RedisLockClient;
import io.mortise.core.internal.lease.TransferableHold.TokenReserve;
import io.mortise.core.spi.LeaseTerms;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LeaseTimingTest {
  private static final long SECOND = 1_000_000_000L;
  private static final LeaseTerms RENEWED = new LeaseTerms(0, 30_000, true, false);
  private static final LeaseTerms LONGER = new LeaseTerms(0, 60_000, true, false);
  private static final LeaseTerms FIXED = new LeaseTerms(0, 10_000, false, false);
  private static final Duration MAX_HOLD = Duration.ofHours(1);
  private static final LockOptions OPTIONS = LockOptions.builder().maxHold(MAX_HOLD).build();

  private final FakeTicker ticker = new FakeTicker();
  private final RedisLockClient client =
      (RedisLockClient) LockClient.create("redis://127.0.0.1:1", OPTIONS);
  private final LeaseContext context =
      new TestContext(client.context().lease()).ticker(ticker).build();
  private long now;

  private static LeaseTerms fixed(long leaseMillis) {
    return new LeaseTerms(0, leaseMillis, false, false);
  }

  @BeforeEach
  void theClockPassesItsLargestNumberSoon() {
    ticker.advance(Long.MAX_VALUE - 1 - 5 * SECOND); // even, as deadlines are
    now = ticker.read();
  }

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
  void anExtensionThatWasSentMayTakeEffectInRedisAtAnyMoment() {
    LeaseTiming timing = granted(FIXED, now);
    assertTrue(timing.deadline().note(1_000));
    assertEquals(now + 10 * SECOND, timing.endInRedisNanos(), "shorter than the lease");

    assertTrue(timing.deadline().note(60_000));
    assertEquals(now + 60 * SECOND, timing.endInRedisNanos());
    ticker.advance(SECOND);
    assertEquals(now + 61 * SECOND, timing.endInRedisNanos());
  }

  @Test
  void withoutAnExtensionRedisHasEndedTheHoldAfterItsLease() {
    assertEquals(now - 10 * SECOND, granted(FIXED, now - 20 * SECOND).endInRedisNanos());
  }

  @Test
  void theRestOfTheLeaseIsAtLeastAMillisecond() {
    LeaseTiming timing = granted(FIXED, now);
    assertEquals(9_898, timing.remainingMillis());

    ticker.advance(9_898_000_000L - 1);
    assertEquals(1, timing.remainingMillis());
    ticker.advance(SECOND);
    assertEquals(1, timing.remainingMillis());
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
    long withAThirdLeft = now - 20 * SECOND + 302_000_000;

    assertTrue(granted(RENEWED, withAThirdLeft + 2).isCertain());
    assertFalse(granted(RENEWED, withAThirdLeft).isCertain());
    assertFalse(granted(RENEWED, now - 20 * SECOND).isCertain());
  }

  @Test
  void aReplyThatComesSoonDoesNotMoveTheHold() {
    LeaseTiming timing = granted(RENEWED, now);
    timing.planRequestAfter(now);
    long due = timing.dueNanos(true);

    timing.setNextRequest(timing.nextRequestAfterReply(now + 1_000_000));

    assertEquals(due, timing.dueNanos(false));
    assertTrue(due - now > 8 * SECOND && due - now <= 10 * SECOND);
  }

  /** Otherwise a client with too much to send would send the more. */
  @Test
  void afterARequestThatWasSentLateTheIntervalBeginsWithIt() {
    LeaseTiming timing = granted(RENEWED, now);
    timing.planRequestAfter(now);
    long sent = now + 5 * SECOND;

    assertTrue(timing.nextRequestAfterReply(sent) - sent >= 9 * SECOND);
  }

  @Test
  void aNewIntervalCountsFromTheReplyOn() {
    LeaseTiming timing = granted(fixed(3_000), now);
    timing.planRequestAfter(now); // a verification, in a third of the client's lease
    timing.setRenewed(true);

    assertTrue(timing.nextRequestAfterReply(now) - now <= SECOND);
  }

  @Test
  void aLateReplyLeavesTheHoldDueOnceInEachInterval() {
    LeaseTiming timing = granted(RENEWED, now);
    timing.planRequestAfter(now);
    long planned = timing.dueNanos(true);

    timing.keepPlannedAhead(planned - 1);
    assertEquals(planned, timing.dueNanos(true));
    timing.keepPlannedAhead(planned);
    assertEquals(planned + 10 * SECOND, timing.dueNanos(true));
    timing.keepPlannedAhead(planned + 10 * SECOND);
    timing.keepPlannedAhead(planned + 20 * SECOND);
    assertEquals(timing.deadlineNanos(), timing.dueNanos(true), "at the latest");
  }

  @Test
  void aHoldWithALongerExtensionUnderWayIsNotCertain() {
    LeaseTiming timing = granted(RENEWED, now);

    assertTrue(timing.deadline().note(30_000));
    assertTrue(timing.isCertain(), "a renewal is no question");
    assertTrue(timing.deadline().note(30_001));
    assertFalse(timing.isCertain());
  }

  @Test
  void aHoldThatIsOverOrNotRenewedAnyMoreIsNotCertain() {
    LeaseTiming over = granted(RENEWED, now);
    over.deadline().end();
    assertFalse(over.isCertain());

    LeaseTiming stopped = granted(RENEWED, now);
    assertFalse(stopped.isStopped());
    stopped.stop("the test says so");
    assertTrue(stopped.isStopped());
    assertFalse(stopped.isCertain());
  }

  @Test
  void aHoldThatHasEndedIsNotConfirmed() {
    LeaseTiming timing = granted(RENEWED, now);
    timing.deadline().end();

    assertFalse(timing.confirm(now + 1, 30_000, context.holds().epoch()));

    assertEquals(now, timing.confirmedNanos());
  }

  @Test
  void aHoldAdoptsRenewedTermsOnlyAndTheLongerLease() {
    LeaseTiming timing = granted(FIXED, now);
    timing.adopt(fixed(60_000));
    assertEquals(10_000, timing.leaseMillis());
    assertFalse(timing.isRenewed());

    timing.adopt(LONGER);
    timing.adopt(RENEWED);

    assertEquals(60_000, timing.leaseMillis());
    assertTrue(timing.isRenewed());
  }

  @Test
  void aHoldThatIsNotRenewedCoversTheRestOfItsLease() {
    LeaseTiming timing = granted(FIXED, now);

    assertTrue(timing.covers(fixed(9_898)));
    assertFalse(timing.covers(fixed(9_899)));
    assertFalse(timing.covers(RENEWED));
  }

  @Test
  void aHoldThatIsRenewedCoversRenewedTermsUpToItsLeaseWhateverIsLeft() {
    LeaseTiming timing = granted(RENEWED, now - 20 * SECOND);
    assertTrue(timing.covers(RENEWED));
    assertFalse(timing.covers(LONGER));

    timing.setRenewed(false);

    assertFalse(timing.covers(RENEWED));
  }

  /** The renewal may have stopped, or fail, and its level may be exited first. */
  @Test
  void aHoldThatIsRenewedCoversALeaseOfTheCallersOnlyForTheTimeThatIsCertain() {
    LeaseTiming timing = granted(RENEWED, now - 20 * SECOND);

    assertTrue(timing.covers(fixed(9_698)));
    assertFalse(timing.covers(fixed(9_699)));
  }

  @Test
  void theLongestHoldCountsFromTheGrantAlsoAfterARenewal() {
    LeaseTiming timing = granted(RENEWED, now);
    assertTrue(timing.confirm(now + SECOND, 30_000, context.holds().epoch()));

    assertTrue(timing.isLengthened(now + MAX_HOLD.toNanos() - 1));
    assertFalse(timing.isLengthened(now + MAX_HOLD.toNanos()));
  }

  @Test
  void aRenewalIsNeededInTheLastLeaseOfTheClientsOwn() {
    LeaseTiming timing = granted(fixed(60_000), now);
    long lastLease = timing.deadlineNanos() - 30 * SECOND;
    assertFalse(timing.needsRenewal(lastLease), "no level asks for it");
    timing.setRenewed(true);

    assertFalse(timing.needsRenewal(lastLease - 1));
    assertTrue(timing.needsRenewal(lastLease));
  }

  @Test
  void theNextRequestIsDueAfterNineTenthsOfAnIntervalOrMore() {
    long due = granted(RENEWED, now).nextRequestNanos() - now;

    assertTrue(9 * SECOND <= due && due <= 10 * SECOND, () -> "after " + due + " ns");
  }

  @Test
  void aHoldWithALongerLeaseIsVerifiedAsOftenAsTheClientsOwnLeaseIsRenewed() {
    assertEquals(OPTIONS.lease().toNanos() / 3, granted(FIXED, now).intervalNanos());
    assertEquals(OPTIONS.lease().toNanos() / 3, granted(LONGER, now).intervalNanos());
    assertEquals(SECOND, granted(new LeaseTerms(0, 3_000, true, false), now).intervalNanos());
  }

  @Test
  void theDetailOfAnExpiredHoldSaysWhyItWasNotRenewed() {
    LeaseTiming renewed = granted(RENEWED, now);
    assertTrue(
        LossDetector.whyExpired(renewed).startsWith("no renewal succeeded in the last 30000 ms"));
    assertTrue(
        LossDetector.whyExpired(granted(FIXED, now)).startsWith("its lease of 10000 ms ran out"));

    renewed.stop("the test says so");

    assertEquals(
        "it was not renewed any more, because the test says so", LossDetector.whyExpired(renewed));
  }

  @Test
  void aHoldIsHandedOffWithItsTimes() {
    LeaseTiming before = granted(RENEWED, now);
    before.setNextRequest(now + 7 * SECOND);
    TransferableHold hold = before.toTransferableHold("id:1", 42, TokenReserve.NONE);
    ticker.advance(SECOND);

    LeaseTiming after = handedOff(hold);

    assertEquals(before.deadlineNanos(), after.deadlineNanos());
    assertEquals(now + 7 * SECOND, after.nextRequestNanos());
    assertEquals(now + SECOND, after.sinceNanos());
    assertEquals(30_000, after.deadline().notedMillis(), "it may have been renewed before");
    assertTrue(after.isCertain());
    context.holds().endEpoch();
    assertFalse(handedOff(hold).isCertain(), "the epoch is that of the grant");
  }

  @Test
  void aHoldIsHandedOffWithTheEpochOfItsLastConfirmation() {
    LeaseTiming timing = granted(RENEWED, now);
    long epoch = context.holds().epoch();
    context.holds().endEpoch();

    assertEquals(epoch, timing.toTransferableHold("id:1", 42, TokenReserve.NONE).epoch());
  }

  private LeaseTiming handedOff(TransferableHold hold) {
    return LeaseTiming.handedOff(context, new FakeProtocol("orders"), RENEWED, hold);
  }
}
