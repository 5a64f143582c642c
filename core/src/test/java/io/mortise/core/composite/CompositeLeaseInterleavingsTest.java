package io.mortise.core.composite;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.spi.FakeLease;
import io.mortise.core.spi.FakeSource;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A member that joins late does not restore a lost majority, not even for a moment. */
@Tag("interleavings")
class CompositeLeaseInterleavingsTest {
  private static final int SCHEDULES = 60;

  /** A hold with one member that will be lost, one more, and two places that are free. */
  private static final class Quorum {
    final FakeLease weak = new FakeLease("weak");
    final FakeLease late = new FakeLease("late");
    final FakeLease later = new FakeLease("later");
    final FakeComposite hold =
        new FakeComposite(
            new FakeSource("composite"),
            2,
            null,
            Arrays.asList(weak, new FakeLease("strong"), null, null));

    private volatile boolean over;

    /** The majority is lost if no member had joined when this one was lost. */
    void loseOne() {
      weak.loses(Reason.EXPIRED, 0);
      over = hold.at(2) != late && hold.at(3) != later;
    }

    void loseOneAndNotify() {
      loseOne();
      weak.tell();
    }

    void loseOneAndRead() {
      loseOne();
      if (over) {
        assertFalse(hold.isValid(), "restored for a moment");
      }
    }

    void assertNotRestored() {
      if (over) {
        assertFalse(hold.isValid(), "restored");
        assertEquals(1, hold.lost.get());
      }
      assertEquals(hold.isValid() ? 0 : 1, hold.lost.get());
    }
  }

  @Test
  void aMemberThatJoinsDuringALossIsInTimeOrRejected() {
    check(
        SCHEDULES,
        () -> {
          Quorum quorum = new Quorum();
          boolean[] joined = new boolean[1];
          race(() -> joined[0] = quorum.hold.joins(2, null, quorum.late), quorum::loseOneAndNotify);
          quorum.assertNotRestored();
          // A thread that counted before it joined, and read the lost member after that, may have
          // ended the hold.
          assertTrue(joined[0] || !quorum.hold.isValid());
          assertEquals(joined[0], quorum.hold.at(2) == quorum.late);
        });
  }

  @Test
  void twoMembersThatJoinDoNotCountEachOther() {
    check(
        SCHEDULES,
        () -> {
          Quorum quorum = new Quorum();
          race(
              () -> quorum.hold.joins(2, null, quorum.late),
              () -> quorum.hold.joins(3, null, quorum.later),
              quorum::loseOne);
          quorum.assertNotRestored();
        });
  }

  @Test
  void aReaderDoesNotSeeALostMajorityAsValid() {
    check(
        SCHEDULES,
        () -> {
          Quorum quorum = new Quorum();
          race(() -> quorum.hold.joins(2, null, quorum.late), quorum::loseOneAndRead);
          quorum.assertNotRestored();
        });
  }

  /** The release covers each member that it sees; a member that joins later is rejected. */
  @Test
  void aMemberThatJoinsDuringTheReleaseIsReleasedOrRejected() {
    check(
        SCHEDULES,
        () -> {
          Quorum quorum = new Quorum();
          boolean[] joined = new boolean[1];
          race(() -> joined[0] = quorum.hold.joins(2, null, quorum.late), quorum.hold::release);
          if (joined[0]) {
            assertEquals(1, quorum.late.releases.get(), "left behind");
          }
          assertFalse(quorum.hold.isValid());
        });
  }
}
