package io.mortise.core.internal.lease;

import static io.mortise.connection.testing.Interleavings.check;
import static io.mortise.connection.testing.Interleavings.race;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Of two threads one wins: the one that extends the hold, or the one that finds it expired. */
@Tag("interleavings")
class LeaseDeadlineInterleavingsTest {
  private static final int SCHEDULES = 200;
  private static final long END = 1_000;

  @Test
  void aHoldIsEitherExtendedOrExpired() {
    check(
        SCHEDULES,
        () -> {
          LeaseDeadline deadline = new LeaseDeadline(END);
          AtomicBoolean lengthened = new AtomicBoolean();
          AtomicBoolean expired = new AtomicBoolean();
          race(
              () -> lengthened.set(deadline.lengthen(END + 500)),
              () -> expired.set(deadline.expire(END)));
          assertNotEquals(lengthened.get(), expired.get());
          assertEquals(lengthened.get() ? END + 500 : END, deadline.nanos());
          assertEquals(expired.get(), deadline.isOver());
        });
  }

  /** Otherwise the hold would be lost, and stay in Redis for the time of its extension. */
  @Test
  void eitherTheExtendingThreadSeesTheEndOrTheEndingThreadSeesTheNote() {
    check(
        SCHEDULES,
        () -> {
          LeaseDeadline deadline = new LeaseDeadline(END);
          AtomicBoolean sends = new AtomicBoolean();
          AtomicBoolean releases = new AtomicBoolean();
          race(
              () -> sends.set(deadline.note(500)),
              () -> releases.set(deadline.expire(END) && deadline.mayOutlive()));
          assertTrue(!sends.get() || releases.get(), "sent, and released by nobody");
        });
  }

  @Test
  void theLatestOfSeveralEndsCounts() {
    check(
        SCHEDULES,
        () -> {
          LeaseDeadline deadline = new LeaseDeadline(END);
          race(() -> deadline.lengthen(END + 500), () -> deadline.lengthen(END + 700));
          assertEquals(END + 700, deadline.nanos());
        });
  }
}
