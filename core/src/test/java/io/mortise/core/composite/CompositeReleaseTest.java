package io.mortise.core.composite;

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
import io.mortise.core.spi.FakeLease;
import io.mortise.core.spi.FakeSource;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A composite hold releases its members, and judges what they reply. */
@Timeout(60)
class CompositeReleaseTest {
  private final FakeSource source = new FakeSource("composite");
  private final FakeLease a = new FakeLease("a");
  private final FakeLease b = new FakeLease("b");
  private final FakeLease c = new FakeLease("c");

  @Test
  void aReleaseReleasesEachMemberOnce() {
    FakeComposite hold = FakeComposite.of(source, 2, a, b, c);

    hold.release();
    hold.release();
    hold.close();

    for (FakeLease member : List.of(a, b, c)) {
      assertEquals(1, member.releases.get());
    }
    assertEquals(State.RELEASED, hold.state());
    assertEquals(Duration.ZERO, hold.remaining());
    assertEquals(0, hold.lost.get());
    IllegalMonitorStateException thrown =
        assertThrows(IllegalMonitorStateException.class, hold::ensureValid);
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
    "hfl, 2, IN_DOUBT", // two of three places are free, but only one is known to have been held
    "hf-, 2, IN_DOUBT", // another may have held the second and the third
    "hh-, 2, RELEASED",
    "hd-, 2, IN_DOUBT",
    "ff-, 2, UNREACHABLE",
    "hfl, 3, LOST",
    "fll, 2, LOST",
    "hhhff, 3, RELEASED",
    "hhfff, 3, UNREACHABLE",
    "hhlff, 3, IN_DOUBT",
    "hhhlf, 3, RELEASED",
    "hhh-f, 3, RELEASED",
    "hh-ff, 3, IN_DOUBT",
    "hflll, 3, LOST",
    "hhd, 2, RELEASED", // two have confirmed that they held it
    "hhd, 3, IN_DOUBT",
    "hdd, 2, IN_DOUBT",
    "hdf, 2, IN_DOUBT",
    "hdf, 3, UNREACHABLE", // it may still be held there
    "hhhdf, 3, RELEASED",
    "hhldf, 3, IN_DOUBT",
    "dll, 2, LOST",
  })
  void theReleaseIsJudgedByEnoughMembers(String members, int required, String outcome) {
    FakeComposite hold = FakeComposite.of(source, required, members);

    switch (outcome) {
      case "LOST" -> {
        LeaseLostException thrown = assertThrows(LeaseLostException.class, hold::release);
        assertTrue(
            thrown.loss().detail().startsWith("the hold was lost before its release: of "),
            thrown.getMessage());
        boolean isFirstNamed = thrown.getMessage().contains("'m0'");
        assertEquals(members.startsWith("l"), isFirstNamed, thrown.getMessage());
        assertEquals(State.LOST, hold.state());
        assertEquals(0, hold.lost.get(), "nothing is left to release");
      }
      case "UNREACHABLE", "IN_DOUBT" -> {
        LockException thrown = assertThrows(LockException.class, hold::release);
        assertEquals(Reason.valueOf(outcome), thrown.reason());
        assertEquals(State.RELEASED, hold.state());
        hold.release(); // thrown once
      }
      default -> {
        hold.release();
        assertEquals(State.RELEASED, hold.state());
      }
    }
    for (int i = 0; i < members.length(); i++) {
      if (hold.at(i) != null) {
        assertEquals(1, hold.at(i).releases.get(), "m" + i);
      }
    }
  }

  /** It is in its place, and is released with the others, but does not count yet. */
  @Test
  void aMemberThatIsAboutToJoinDoesNotShowThatTheHoldWasHeld() {
    FakeComposite hold = FakeComposite.of(source, 2, "hl-");
    FakeLease first = hold.at(0);
    first.beforeState =
        () -> {
          first.beforeState = () -> {};
          assertThrows(LeaseLostException.class, hold::release);
        };

    assertFalse(hold.joins(2, null, c));

    assertEquals(State.LOST, hold.state());
    assertEquals(1, c.releases.get());
  }

  /** As at a node that is reacquired: one that joins is in the place of a lost one. */
  @Test
  void aMemberThatIsAboutToReplaceALostOneDoesNotShowThatTheHoldWasHeld() {
    FakeComposite hold = FakeComposite.of(source, 2, "hhl");
    FakeLease lost = hold.at(1);
    lost.loses(LeaseLoss.Reason.MISSING, System.nanoTime());
    FakeLease first = hold.at(0);
    first.beforeState =
        () -> {
          first.beforeState = () -> {};
          assertThrows(LeaseLostException.class, hold::release);
        };

    assertFalse(hold.joins(1, lost, c));

    assertEquals(State.LOST, hold.state());
  }

  @Test
  void oneErrorNamesAllMembersThatDidNotConfirm() {
    LockException first = FakeComposite.fault("a does not answer");
    LockException second = FakeComposite.fault("b does not answer");
    FakeComposite hold = FakeComposite.of(source, 3, a.failing(first), b.failing(second), c);

    LockException thrown = assertThrows(LockException.class, hold::release);

    assertEquals(
        "lock 'composite': the release could not be confirmed: a does not answer | b does"
            + " not answer",
        thrown.getMessage());
    assertEquals(Reason.UNREACHABLE, thrown.reason());
    assertSame(first, thrown.getCause());
    assertEquals(List.of(second), List.of(thrown.getSuppressed()));
  }

  @Test
  void aLossIsThrownByEachReleaseAndByTheFirstCloseOnly() {
    FakeComposite handle = FakeComposite.of(source, 2, a, b);
    a.lose();
    assertThrows(LeaseLostException.class, handle::close);
    handle.close();
    assertEquals(2, handle.releasesAfterLoss.get());

    FakeComposite owned = FakeComposite.of(source, 2, a, c);
    assertThrows(LeaseLostException.class, owned::release);
    assertThrows(LeaseLostException.class, owned::release);
    assertEquals(1, owned.lost.get());
  }

  @Test
  void theMembersOfALostHoldAreReleasedUnlessOthersHoldThemToo() {
    FakeComposite hold = FakeComposite.of(source, 2, a, b);
    FakeComposite heldElsewhere = FakeComposite.ofHeldElsewhere(source, 2, a, c);

    a.lose();

    assertEquals(State.LOST, hold.state());
    assertEquals(1, b.releases.get());
    assertEquals(1, b.backgroundReleases.get(), "no thread waits for a server that is silent");
    assertEquals(State.LOST, heldElsewhere.state());
    assertEquals(0, c.releases.get());
  }

  @Test
  void anErrorInTheReleaseAfterALossLeavesNoMemberRenewed() {
    FakeComposite hold = FakeComposite.of(source, 3, a, b, c);
    b.errorAtRelease = new OutOfMemoryError("on purpose");

    assertThrows(OutOfMemoryError.class, a::lose);

    assertEquals(State.LOST, hold.state());
    assertFalse(b.isRenewed());
    assertEquals(1, c.backgroundReleases.get(), "whatever the others throw");
  }

  /** As a member of a hold that is lost. */
  @Test
  void aHoldThatIsReleasedInTheBackgroundReleasesItsMembersThere() {
    FakeComposite hold = FakeComposite.of(source, 2, a, b);
    FakeComposite heldElsewhere = FakeComposite.ofHeldElsewhere(source, 1, c);

    hold.releaseInBackground();
    hold.releaseInBackground();
    hold.close();
    heldElsewhere.releaseInBackground();

    assertEquals(State.RELEASED, hold.state());
    assertEquals(0, hold.lost.get());
    for (FakeLease member : List.of(a, b, c)) {
      assertEquals(1, member.releases.get());
      assertEquals(1, member.backgroundReleases.get());
    }
    assertEquals(0, c.listeners(), "it is not watched any more");
  }

  @Test
  void aHoldThatAnErrorKeepsFromItsReleaseInTheBackgroundHasEnded() {
    FakeComposite hold = FakeComposite.of(source, 2, a, b);
    a.errorAtRelease = new OutOfMemoryError("on purpose");

    assertThrows(OutOfMemoryError.class, hold::releaseInBackground);

    assertEquals(State.RELEASED, hold.state());
    assertEquals(1, b.releases.get());
  }

  @Test
  void aHoldWithAnOwnerCannotBeClosed() {
    FakeComposite hold = new FakeComposite(source, 1, Thread.currentThread(), List.of(a));

    IllegalMonitorStateException thrown =
        assertThrows(IllegalMonitorStateException.class, hold::close);

    assertTrue(thrown.getMessage().contains("gives it up by unlock()"), thrown.getMessage());
    assertEquals(State.HELD, hold.state());
    assertEquals(0, a.releases.get());
  }

  @Test
  void anErrorDuringTheReleaseLeavesTheHoldReleasedAndNoMemberRenewed() {
    FakeComposite hold = FakeComposite.of(source, 1, a, b);
    hold.beforeRelease =
        () -> {
          throw new OutOfMemoryError("on purpose");
        };

    assertThrows(OutOfMemoryError.class, hold::release);

    assertEquals(State.RELEASED, hold.state());
    assertFalse(a.isRenewed());
    assertFalse(b.isRenewed());
  }

  @Test
  void anErrorBeforeTheReleaseLeavesNoMemberRenewed() {
    FakeComposite hold = FakeComposite.of(source, 2, a, b);
    a.errorAtState = new OutOfMemoryError("on purpose");

    assertThrows(OutOfMemoryError.class, hold::release);

    assertFalse(a.isRenewed());
    assertFalse(b.isRenewed());
  }

  @Test
  void anErrorAtTheLossLeavesNoMemberRenewed() {
    FakeComposite hold = FakeComposite.of(source, 2, a, b);
    hold.onLoss =
        () -> {
          throw new StackOverflowError("on purpose");
        };

    assertThrows(StackOverflowError.class, a::lose);

    assertEquals(State.LOST, hold.state());
    assertFalse(b.isRenewed());
  }

  @Test
  void anErrorInTheReleaseOfAGroupLeavesTheOthersNotRenewed() {
    a.errorAtRelease = new OutOfMemoryError("on purpose");

    assertThrows(OutOfMemoryError.class, () -> LeaseGroup.release(List.of(a, b)));

    assertFalse(b.isRenewed());
  }
}
