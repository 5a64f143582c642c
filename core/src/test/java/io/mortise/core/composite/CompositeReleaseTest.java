package io.mortise.core.spi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a hold made of others does with its members: it gives them back, lengthens, raises. */
@Timeout(60)
class JointReleaseTest {
  private static final LeaseTerms TERMS =
      LeaseTerms.of(LockOptions.defaults(), Duration.ZERO, Duration.ofMinutes(1), true);

  private final FakeSource source = new FakeSource("joint");
  private final FakeLease a = new FakeLease("a");
  private final FakeLease b = new FakeLease("b");
  private final FakeLease c = new FakeLease("c");

  private static LockException fault(String what) {
    return new LockException(Reason.UNREACHABLE, what, null);
  }

  /** A member for each letter: held, lost without anybody's knowledge, in doubt, or failing. */
  private FakeJoint joint(int required, String members) {
    FakeLease[] leases = new FakeLease[members.length()];
    for (int i = 0; i < leases.length; i++) {
      FakeLease lease = new FakeLease("m" + i);
      leases[i] =
          switch (members.charAt(i)) {
            case 'l' ->
                lease.failing(
                    new LeaseLostException(
                        new LeaseLoss(lease.name, 1, LeaseLoss.Reason.MISSING, 0, "it is gone")));
            case 'd' ->
                lease.failing(new LockException(Reason.IN_DOUBT, "m" + i + " is in doubt", null));
            case 'f' -> lease.failing(fault("m" + i + " does not answer"));
            default -> lease;
          };
    }
    return FakeJoint.of(source, required, leases);
  }

  @Test
  void aReleaseGivesEachMemberBackOnce() {
    FakeJoint joint = FakeJoint.of(source, 2, a, b, c);

    joint.release();
    joint.release();
    joint.close();

    for (FakeLease member : List.of(a, b, c)) {
      assertEquals(1, member.releases.get());
    }
    assertEquals(State.RELEASED, joint.state());
    assertEquals(Duration.ZERO, joint.remaining());
    assertEquals(0, joint.lost.get());
    IllegalMonitorStateException thrown =
        assertThrows(IllegalMonitorStateException.class, joint::ensureValid);
    assertTrue(thrown.getMessage().contains("was released already"), thrown.getMessage());
  }

  @ParameterizedTest(name = "{1} of {0}: {2}")
  @CsvSource({
    "hhh, 3, RELEASED",
    "hhl, 2, RELEASED",
    "hhl, 3, LOST",
    "hll, 2, LOST",
    "hhf, 2, RELEASED",
    "hhf, 3, UNREACHABLE",
    "hff, 2, UNREACHABLE",
    "hfl, 2, RELEASED", // of three places two are free, and two had stood
    "hfl, 3, LOST",
    "fll, 2, LOST",
    "hhhff, 3, RELEASED",
    "hhfff, 3, UNREACHABLE",
    "hhlff, 3, RELEASED",
    "hflll, 3, LOST",
    "hhd, 2, RELEASED", // two have said that they held it
    "hhd, 3, IN_DOUBT",
    "hdd, 2, IN_DOUBT",
    "hdf, 2, IN_DOUBT",
    "hdf, 3, UNREACHABLE", // it may still be held there
    "hhhdf, 3, RELEASED",
    "hhldf, 3, IN_DOUBT",
    "dll, 2, LOST",
  })
  void whatBecomesOfTheReleaseIsWhatBecomesOfEnoughMembers(
      String members, int required, String outcome) {
    FakeJoint joint = joint(required, members);

    switch (outcome) {
      case "LOST" -> {
        LeaseLostException thrown = assertThrows(LeaseLostException.class, joint::release);
        assertTrue(
            thrown.loss().detail().startsWith("the hold was lost before its release: of "),
            thrown.getMessage());
        assertEquals(State.LOST, joint.state());
        assertEquals(0, joint.lost.get(), "nothing is left to give back");
      }
      case "UNREACHABLE", "IN_DOUBT" -> {
        LockException thrown = assertThrows(LockException.class, joint::release);
        assertEquals(Reason.valueOf(outcome), thrown.reason());
        assertEquals(State.RELEASED, joint.state());
        joint.release(); // told once
      }
      default -> {
        joint.release();
        assertEquals(State.RELEASED, joint.state());
      }
    }
    for (int i = 0; i < members.length(); i++) {
      assertEquals(1, joint.at(i).releases.get(), "m" + i);
    }
  }

  @Test
  void whatCouldNotBeConfirmedIsOneErrorThatTellsOfAll() {
    LockException first = fault("a does not answer");
    LockException second = fault("b does not answer");
    FakeJoint joint = FakeJoint.of(source, 3, a.failing(first), b.failing(second), c);

    LockException thrown = assertThrows(LockException.class, joint::release);

    assertEquals(
        "lock 'joint': the release could not be confirmed: a does not answer; b does not answer",
        thrown.getMessage());
    assertEquals(Reason.UNREACHABLE, thrown.reason());
    assertSame(first, thrown.getCause());
    assertEquals(List.of(second), List.of(thrown.getSuppressed()));
  }

  @Test
  void aLossIsThrownToEachUnlockAndToTheFirstCloseOnly() {
    FakeJoint handle = FakeJoint.of(source, 2, a, b);
    a.lose();
    assertThrows(LeaseLostException.class, handle::close);
    handle.close();
    assertEquals(2, handle.leftOver.get());

    FakeJoint owned = FakeJoint.of(source, 2, a, c);
    assertThrows(LeaseLostException.class, owned::release);
    assertThrows(LeaseLostException.class, owned::release);
    assertEquals(0, c.releases.get(), "that is for whoever makes the lock to do");
    assertEquals(1, owned.lost.get());
  }

  @Test
  void theHoldOfAThreadIsNotClosed() {
    FakeJoint joint = new FakeJoint(source, 1, Thread.currentThread(), List.of(a));

    IllegalMonitorStateException thrown =
        assertThrows(IllegalMonitorStateException.class, joint::close);

    assertTrue(thrown.getMessage().contains("gives it up by unlock()"), thrown.getMessage());
    assertEquals(State.HELD, joint.state());
    assertEquals(0, a.releases.get());
  }

  @Test
  void aReleaseThatBreaksOffLeavesNothingHeldInAppearance() {
    FakeJoint joint = FakeJoint.of(source, 1, a);
    joint.beforeGivingBack =
        () -> {
          throw new OutOfMemoryError("on purpose");
        };

    assertThrows(OutOfMemoryError.class, joint::release);

    assertEquals(State.RELEASED, joint.state());
  }

  // ---- lengthening and raising

  @ParameterizedTest(name = "{1} of {0}: {2}")
  @CsvSource({
    "hhh, 3, true",
    "hhf, 2, true",
    "hhl, 2, true",
    "hhhff, 3, true",
    "hhf, 3, false",
    "hff, 2, false",
    "hfl, 2, false", // only one has it
    "hhfl, 3, false",
  })
  void whatIsAskedOfTheHoldEnoughMembersMustDo(String members, int required, boolean enough) {
    FakeJoint joint = joint(required, members);

    if (enough) {
      joint.extendTo(TERMS);
      assertTrue(joint.raiseToken(42));
      assertEquals(42, joint.fencingToken());
    } else {
      LockException thrown = assertThrows(LockException.class, () -> joint.extendTo(TERMS));
      assertTrue(thrown.getMessage().contains("could not be lengthened"), thrown.getMessage());
      thrown = assertThrows(LockException.class, () -> joint.raiseToken(42));
      assertTrue(thrown.getMessage().contains("could not be raised"), thrown.getMessage());
      assertEquals(1, joint.fencingToken());
    }
    for (int i = 0; i < members.length(); i++) {
      boolean holds = members.charAt(i) == 'h';
      assertEquals(holds ? List.of(TERMS) : List.of(), joint.at(i).needed, "m" + i);
      assertEquals(holds ? 42 : 1, joint.at(i).fencingToken(), "m" + i);
    }
  }

  @Test
  void aTokenIsNeverLowered() {
    FakeJoint joint = FakeJoint.of(source, 1, a);
    joint.raiseToken(42);

    assertTrue(joint.raiseToken(7));

    assertEquals(42, joint.fencingToken());
  }

  @Test
  void theTokenOfALostHoldStaysAsItWas() {
    FakeJoint joint = FakeJoint.of(source, 2, a, b);
    a.lose();

    assertFalse(joint.raiseToken(42));

    assertEquals(1, joint.fencingToken());
  }

  @Test
  void aMemberThatIsFoundGoneHasNotRaisedAndIsAskedWhetherItKnows() {
    FakeJoint joint = FakeJoint.of(source, 2, a, b);
    b.gone = true;

    assertFalse(joint.raiseToken(42), "which is no error, but a loss");

    assertEquals(1, joint.fencingToken());
    assertEquals(1, b.verified.get());
  }

  @Test
  void allMembersAreRenewedOrNone() {
    FakeJoint joint = FakeJoint.of(source, 2, a, b);

    joint.setRenewed(true);
    joint.setRenewed(false);

    assertEquals(List.of(true, false), a.renewed);
    assertEquals(List.of(true, false), b.renewed);
  }
}
