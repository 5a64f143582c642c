package io.mortise.red;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.red.Member.Outage;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** That a node could not be reached, and for how long that is worth knowing. */
class OutageTest {
  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5); // it wraps around
  private final Outage outage = new Outage(clock::get);

  private static LockException failure(Reason reason) {
    return new LockException(reason, "on purpose", null);
  }

  @Test
  void aNodeThatWasNeverAskedHasNone() {
    assertFalse(outage.keepsOut());
  }

  @Test
  void itIsFreshForAWhile() {
    LockException refused = failure(Reason.UNREACHABLE);
    assertSame(refused, outage.note(refused, outage.begin()));
    assertTrue(outage.keepsOut());

    clock.addAndGet(Outage.PAUSE_NANOS - 1);
    assertTrue(outage.keepsOut());
    clock.incrementAndGet();
    assertFalse(outage.keepsOut(), "one may try");
    assertTrue(outage.keepsOut(), "the others wait for it");
  }

  @Test
  void anAnswerEndsIt() {
    var unused = outage.note(failure(Reason.UNREACHABLE), outage.begin());

    outage.isOver();

    assertFalse(outage.keepsOut());
  }

  @Test
  void aFailureOfAQuestionFromBeforeAnAnswerIsOldNews() {
    long begun = outage.begin();
    clock.incrementAndGet();
    outage.isOver();

    var unused = outage.note(failure(Reason.UNREACHABLE), begun);

    assertFalse(outage.keepsOut());
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNREACHABLE")
  void aNodeThatAnswersIsNotOut(Reason reason) {
    var unused = outage.note(failure(reason), outage.begin());

    assertFalse(outage.keepsOut());
  }
}
