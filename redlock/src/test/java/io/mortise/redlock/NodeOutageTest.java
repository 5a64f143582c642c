package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** That a node could not be reached, and for how long that is worth knowing. */
class OutageTest {
  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5); // it wraps around
  private final NodeOutage outage = new NodeOutage(clock::get);

  private static LockException failure(Reason reason) {
    return new LockException(reason, "on purpose", null);
  }

  @Test
  void aNodeThatWasNeverAskedHasNone() {
    assertFalse(outage.keepsOut());
  }

  @Test
  void itIsFreshForAWhile() {
    note(Reason.UNREACHABLE);
    assertTrue(outage.keepsOut());

    clock.addAndGet(NodeOutage.PAUSE_NANOS - 1);
    assertTrue(outage.keepsOut());
    clock.incrementAndGet();
    assertFalse(outage.keepsOut(), "one may try");
    assertTrue(outage.keepsOut(), "the others wait for it");
  }

  @Test
  void anAnswerEndsIt() {
    note(Reason.UNREACHABLE);

    outage.isOver();

    assertFalse(outage.keepsOut());
  }

  @Test
  void aFailureOfAQuestionFromBeforeAnAnswerIsOldNews() {
    long begun = outage.begin();
    clock.incrementAndGet();
    outage.isOver();

    assertFalse(outage.note(failure(Reason.ACCESS_DENIED), begun));

    assertFalse(outage.note(failure(Reason.UNREACHABLE), begun));
    assertFalse(outage.keepsOut());
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNREACHABLE")
  void aNodeThatAnswersIsNotOut(Reason reason) {
    note(reason);

    assertFalse(outage.keepsOut());
  }

  private boolean note(Reason reason) {
    return outage.note(failure(reason), outage.begin());
  }

  private void pass(long nanos) {
    clock.addAndGet(nanos);
  }

  @ParameterizedTest
  @EnumSource(
      value = Reason.class,
      names = {"ACCESS_DENIED", "CERTIFICATE_REJECTED", "WRONG_TYPE", "NOT_SUPPORTED", "SCRIPT"})
  void whatDoesNotPassByItselfIsToldAtOnceAndOnce(Reason reason) {
    assertTrue(note(reason));
    for (int i = 0; i < 10; i++) {
      pass(NodeOutage.QUIET_NANOS);
      assertFalse(note(reason));
    }
    assertTrue(outage.isOver(), "and so is its end");
    assertFalse(outage.isOver());
  }

  @ParameterizedTest
  @EnumSource(
      value = Reason.class,
      names = {"UNREACHABLE", "NOT_READY", "READ_ONLY", "OUT_OF_MEMORY"})
  void whatMayPassIsToldWhenItHasLasted(Reason reason) {
    assertFalse(note(reason));
    pass(NodeOutage.LASTING_NANOS - 1);
    assertFalse(note(reason));
    pass(1);
    assertTrue(note(reason));
    assertFalse(note(reason));
  }

  @Test
  void aQuestionThatHungForLongIsALastingOne() {
    long begun = outage.begin();
    pass(NodeOutage.LASTING_NANOS);

    assertTrue(outage.note(failure(Reason.UNREACHABLE), begun));
  }

  @Test
  void oneThatComesAndGoesIsNotToldAgainAtOnce() {
    assertTrue(note(Reason.WRONG_TYPE));
    assertTrue(outage.isOver());
    pass(NodeOutage.QUIET_NANOS - 1);
    assertFalse(note(Reason.WRONG_TYPE));
    assertFalse(outage.isOver());
    pass(1);
    assertTrue(note(Reason.WRONG_TYPE));
  }

  @Test
  void aClientThatWasClosedIsNoOutage() {
    assertFalse(note(Reason.CLIENT_CLOSED));
    assertFalse(outage.isOver());
  }
}
