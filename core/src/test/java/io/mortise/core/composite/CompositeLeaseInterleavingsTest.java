package io.mortise.core.spi;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LeaseLoss.Reason;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A majority that was over is not made whole by who joins late, not even for a moment. */
@Tag("interleavings")
class JointLeaseInterleavingsTest {
  private static final int SCHEDULES = 60;

  /** A hold with one member that will be lost, one more, and two places that are free. */
  private static final class Quorum {
    final FakeLease weak = new FakeLease("weak");
    final FakeLease late = new FakeLease("late");
    final FakeLease later = new FakeLease("later");
    final FakeJoint joint =
        new FakeJoint(
            new FakeSource("joint"),
            2,
            null,
            Arrays.asList(weak, new FakeLease("strong"), null, null));

    private volatile boolean over;

    /** The majority is over if nobody had joined when this one was lost. */
    void losesOne() {
      weak.loses(Reason.EXPIRED, 0);
      over = joint.at(2) != late && joint.at(3) != later;
    }

    void loseOneAndTell() {
      losesOne();
      weak.tell();
    }

    void loseOneAndLook() {
      losesOne();
      if (over) {
        assertFalse(joint.isValid(), "made whole for a moment");
      }
    }

    void assertNotMadeWhole() {
      if (over) {
        assertFalse(joint.isValid(), "made whole");
        assertEquals(1, joint.lost.get());
      }
      assertEquals(joint.isValid() ? 0 : 1, joint.lost.get());
    }
  }

  @Test
  void whoJoinsWhileOneIsLostComesInTimeOrNotAtAll() {
    check(
        SCHEDULES,
        () -> {
          Quorum quorum = new Quorum();
          boolean[] joined = new boolean[1];
          race(() -> joined[0] = quorum.joint.joins(2, null, quorum.late), quorum::loseOneAndTell);
          quorum.assertNotMadeWhole();
          // Who counted before it joined, and looked at the lost one after, may have ended the
          // hold.
          assertTrue(joined[0] || !quorum.joint.isValid());
          assertEquals(joined[0], quorum.joint.at(2) == quorum.late);
        });
  }

  @Test
  void twoWhoJoinDoNotCountEachOther() {
    check(
        SCHEDULES,
        () -> {
          Quorum quorum = new Quorum();
          race(
              () -> quorum.joint.joins(2, null, quorum.late),
              () -> quorum.joint.joins(3, null, quorum.later),
              quorum::losesOne);
          quorum.assertNotMadeWhole();
        });
  }

  @Test
  void whoLooksMeanwhileDoesNotSeeItWhole() {
    check(
        SCHEDULES,
        () -> {
          Quorum quorum = new Quorum();
          race(() -> quorum.joint.joins(2, null, quorum.late), quorum::loseOneAndLook);
          quorum.assertNotMadeWhole();
        });
  }

  /** Whoever releases gives back whom he sees; who has not joined then is told so. */
  @Test
  void whoJoinsDuringTheReleaseIsGivenBackOrKept() {
    check(
        SCHEDULES,
        () -> {
          Quorum quorum = new Quorum();
          boolean[] joined = new boolean[1];
          race(() -> joined[0] = quorum.joint.joins(2, null, quorum.late), quorum.joint::release);
          if (joined[0]) {
            assertEquals(1, quorum.late.releases.get(), "left behind");
          }
          assertFalse(quorum.joint.isValid());
        });
  }
}
