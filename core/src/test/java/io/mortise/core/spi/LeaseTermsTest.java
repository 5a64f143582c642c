package io.mortise.core.spi;

import static java.time.Duration.ofDays;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class LeaseTermsTest {
  private static final LockOptions OPTIONS = LockOptions.builder().lease(ofMillis(12_345)).build();
  private static final Duration FOR_EVER = ofSeconds(Long.MAX_VALUE, 999_999_999);

  @Test
  void threeSecondsAreThreeSecondsAsWaitAndAsLease() {
    LeaseTerms terms = LeaseTerms.of(OPTIONS, ofSeconds(3), ofSeconds(3), true);

    assertEquals(new LeaseTerms(3_000_000_000L, 3_000, false, true), terms);
  }

  @Test
  void withoutAWaitThereIsNoEndAndWithoutALeaseThatOfTheClientIsRenewed() {
    assertEquals(
        new LeaseTerms(LeaseTerms.FOREVER, 12_345, true, false),
        LeaseTerms.of(OPTIONS, null, null, false));
  }

  @Test
  void aWaitOfZeroIsOneAttempt() {
    assertEquals(0, LeaseTerms.of(OPTIONS, Duration.ZERO, null, true).waitNanos());
    assertEquals(1, LeaseTerms.of(OPTIONS, ofNanos(1), null, true).waitNanos());
  }

  @Test
  void aGivenLeaseIsNotRenewedEvenIfItEqualsThatOfTheClient() {
    assertEquals(
        new LeaseTerms(0, 12_345, false, true),
        LeaseTerms.of(OPTIONS, Duration.ZERO, OPTIONS.lease(), true));
  }

  @Test
  void aNegativeWaitIsOneAttempt() {
    assertEquals(0, LeaseTerms.of(OPTIONS, ofNanos(-1), null, true).waitNanos());
    assertEquals(0, LeaseTerms.of(OPTIONS, ofSeconds(Long.MIN_VALUE), null, true).waitNanos());
  }

  @Test
  void aLeaseUnderAMillisecondIsRefused() {
    assertEquals("a lease must be at least 1 ms: PT0.000999999S", refused(null, ofNanos(999_999)));
    assertEquals("a lease must be at least 1 ms: PT0S", refused(null, Duration.ZERO));
    assertEquals("a lease must be at least 1 ms: PT-1S", refused(null, ofSeconds(-1)));
    assertEquals(1, LeaseTerms.of(OPTIONS, null, ofMillis(1), true).leaseMillis());
  }

  @Test
  void aLeaseOfMoreThanAYearIsRefusedAndOneOfAYearIsNot() {
    assertEquals(
        "a lease must be at most PT8760H: PT8760H0.000000001S",
        refused(null, ofDays(365).plusNanos(1)));
    assertTrue(refused(null, FOR_EVER).startsWith("a lease must be at most PT8760H: "));
    assertEquals(31_536_000_000L, LeaseTerms.of(OPTIONS, null, ofDays(365), true).leaseMillis());
  }

  @Test
  void aHugeWaitCountsAsAYearAndIsBounded() {
    long year = 31_536_000_000_000_000L;

    assertEquals(year, LeaseTerms.of(OPTIONS, ofDays(365).plusNanos(1), null, true).waitNanos());
    assertEquals(year, LeaseTerms.of(OPTIONS, ofNanos(Long.MAX_VALUE), null, true).waitNanos());
    assertEquals(year, LeaseTerms.of(OPTIONS, FOR_EVER, null, true).waitNanos());
    assertEquals(year - 1, LeaseTerms.of(OPTIONS, ofNanos(year - 1), null, true).waitNanos());
  }

  @Test
  void aMinimumIsRoundedUpAndKeptByEveryCopyButTheOneWithout() {
    LeaseTerms terms = LeaseTerms.of(OPTIONS, ofSeconds(3), null, true).atLeast(ofNanos(1));

    assertEquals(1, terms.minimumMillis());
    assertEquals(1_000_000, terms.minimumNanos());
    assertEquals(1, terms.waiting(0).interruptible(false).withOptions(OPTIONS).minimumMillis());
    assertEquals(0, terms.withoutMinimum().minimumMillis());
    assertEquals(0, terms.atLeast(Duration.ZERO).minimumMillis());
  }

  @Test
  void aMinimumMayBeLongerThanALeaseOnlyIfThatIsRenewed() {
    LeaseTerms fixed = LeaseTerms.of(OPTIONS, null, ofSeconds(5), true);

    assertEquals(5_000, fixed.atLeast(ofSeconds(5)).minimumMillis());
    assertEquals(
        "a minimum must not be longer than the lease, which ends the hold: PT5.001S, and 5000 ms",
        refusedMinimum(fixed, ofMillis(5_001)));
    LeaseTerms renewed = LeaseTerms.of(OPTIONS, null, null, true);
    assertEquals(31_536_000_000L, renewed.atLeast(ofDays(365)).minimumMillis());
  }

  @Test
  void aMinimumBelowZeroOrOfMoreThanAYearIsRefused() {
    LeaseTerms renewed = LeaseTerms.of(OPTIONS, null, null, true);

    assertEquals(
        "a minimum must be from PT0S to PT8760H: PT-0.000000001S",
        refusedMinimum(renewed, ofNanos(-1)));
    assertTrue(refusedMinimum(renewed, FOR_EVER).startsWith("a minimum must be from PT0S"));
  }

  private static String refusedMinimum(LeaseTerms terms, Duration minimum) {
    return assertThrows(IllegalArgumentException.class, () -> terms.atLeast(minimum)).getMessage();
  }

  private static String refused(Duration wait, Duration lease) {
    return assertThrows(
            IllegalArgumentException.class, () -> LeaseTerms.of(OPTIONS, wait, lease, true))
        .getMessage();
  }
}
