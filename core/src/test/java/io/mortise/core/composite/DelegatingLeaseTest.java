package io.mortise.core.composite;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.FakeLease;
import io.mortise.core.spi.FakeSource;
import io.mortise.core.spi.LeaseTerms;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Requests to a composite hold are passed on, and enough members have to comply. */
class DelegatingLeaseTest {
  private static final LeaseTerms TERMS =
      LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, Duration.ofMinutes(1), true);

  private final FakeSource source = new FakeSource("composite");
  private final FakeLease a = new FakeLease("a");
  private final FakeLease b = new FakeLease("b");
  private final FakeLease c = new FakeLease("c");

  @ParameterizedTest(name = "{1} of {0}: {2}")
  @CsvSource({
    "hhh, 3, true",
    "hhf, 2, true",
    "hhl, 2, true",
    "hhhff, 3, true",
    "hhf, 3, false",
    "hff, 2, false",
    "hfl, 2, false", // only one remembers it
    "hhfl, 3, false",
  })
  void enoughMembersHaveToComply(String members, int required, boolean enough) {
    FakeComposite hold = FakeComposite.of(source, required, members);

    if (enough) {
      hold.extendTo(TERMS);
      assertTrue(hold.raiseToken(42));
      assertEquals(42, hold.fencingToken());
    } else {
      LockException thrown = assertThrows(LockException.class, () -> hold.extendTo(TERMS));
      assertTrue(thrown.getMessage().contains("could not be lengthened"), thrown.getMessage());
      thrown = assertThrows(LockException.class, () -> hold.raiseToken(42));
      assertTrue(thrown.getMessage().contains("could not be raised"), thrown.getMessage());
      assertEquals(1, hold.fencingToken());
    }
    for (int i = 0; i < members.length(); i++) {
      boolean holds = members.charAt(i) == 'h';
      assertEquals(holds ? List.of(TERMS) : List.of(), hold.at(i).needed, "m" + i);
      assertEquals(holds ? 42 : 1, hold.at(i).fencingToken(), "m" + i);
    }
  }

  /** As of a quorum that has lost a node: the whole hold goes on, and its owner may re-enter it. */
  @Test
  void aReentryThatNeedsNoCommandBearsALostMember() {
    FakeComposite hold = FakeComposite.of(source, 2, "hhl");
    IntStream.range(0, 3).forEach(i -> hold.at(i).covers = true);

    hold.extendTo(TERMS);

    assertEquals(List.of(TERMS), hold.at(1).needed);
  }

  @Test
  void aTokenIsNeverLowered() {
    FakeComposite hold = FakeComposite.of(source, 1, a);
    hold.raiseToken(42);

    assertTrue(hold.raiseToken(7));

    assertEquals(42, hold.fencingToken());
  }

  @Test
  void theTokenOfALostHoldIsNotRaised() {
    FakeComposite hold = FakeComposite.of(source, 2, a, b);
    a.lose();

    assertFalse(hold.raiseToken(42));

    assertEquals(1, hold.fencingToken());
  }

  @Test
  void aMemberThatIsFoundMissingIsVerified() {
    FakeComposite hold = FakeComposite.of(source, 2, a, b);
    b.gone = true;

    assertFalse(hold.raiseToken(42), "a loss, not an error");

    assertEquals(1, hold.fencingToken());
    assertEquals(1, b.verified.get());
  }

  @Test
  void allMembersAreRenewedOrNone() {
    FakeComposite hold = FakeComposite.of(source, 2, a, b);

    hold.setRenewed(true);
    hold.setRenewed(false);

    assertEquals(List.of(true, false), a.renewed);
    assertEquals(List.of(true, false), b.renewed);
  }

  @Test
  void aRenewalThatHasStoppedForGoodIsNotRequestedAgain() {
    FakeComposite hold = new FakeComposite(source, 2, null, Arrays.asList(a, b, null));
    hold.stopRenewal("on purpose");
    hold.setRenewed(true);
    hold.extendTo(LeaseTerms.of(source.options(), Duration.ZERO, null, true));

    assertFalse(hold.isRenewed());
    assertTrue(hold.joins(2, null, c));
    assertEquals("on purpose", c.endedRenewal);
  }

  @Test
  void afterAFailedExtensionTheRenewalIsAsBefore() {
    LeaseTerms given = LeaseTerms.of(source.options(), Duration.ZERO, Duration.ofSeconds(5), true);
    FakeComposite hold = FakeComposite.of(source, 2, a, b, c);
    hold.setRenewed(false);
    b.failing(new LockException(LockException.Reason.UNREACHABLE, "on purpose", null));
    c.failing(b.failure);
    LeaseTerms renewed = LeaseTerms.of(source.options(), Duration.ZERO, null, true);

    assertThrows(LockException.class, () -> hold.extendTo(renewed));

    assertEquals(List.of(renewed), a.needed);
    assertEquals(List.of(false, false), a.renewed, "the renewal is stopped again");
    assertFalse(hold.isRenewed());
    c.failing(null);
    hold.extendTo(renewed);
    assertTrue(hold.isRenewed());
    assertThrows(LockException.class, () -> FakeComposite.of(source, 3, a, b, c).extendTo(given));
  }

  @Test
  void theHoldDecidesWhatAFailedExtensionResets() {
    List<Boolean> resets = new ArrayList<>();
    FakeComposite hold =
        new FakeComposite(source, 1, null, List.of(a)) {
          @Override
          public void setRenewed(boolean wanted) {
            resets.add(wanted);
            if (resets.size() == 1) {
              super.setRenewed(wanted);
            }
          }
        };
    hold.setRenewed(false);
    a.failing(FakeComposite.fault("on purpose"));

    assertThrows(
        LockException.class,
        () -> hold.extendTo(LeaseTerms.of(source.options(), Duration.ZERO, null, true)));

    assertEquals(List.of(false, false), resets);
    assertEquals(List.of(false), a.renewed, "others may need the renewal of this member");
  }
}
