package io.mortise.redlock;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Outages of a node: which suppress calls, and which are logged. */
class NodeOutageTest {
  private final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 5); // it wraps around
  private final NodeOutage outage = new NodeOutage(clock::get);

  private static LockException failure(Reason reason) {
    return new LockException(reason, "on purpose", null);
  }

  @Test
  void aNewNodeHasNoOutage() {
    assertFalse(outage.suppressesCalls());
  }

  @Test
  void anUnreachableNodeIsNotCalledForAWhile() {
    record(Reason.UNREACHABLE);
    assertTrue(outage.suppressesCalls());

    clock.addAndGet(NodeOutage.PAUSE_NANOS - 1);
    assertTrue(outage.suppressesCalls());
    clock.incrementAndGet();
    assertFalse(outage.suppressesCalls(), "the first caller is let through");
    assertTrue(outage.suppressesCalls(), "the others stay suppressed");
  }

  @Test
  void anAnswerEndsIt() {
    record(Reason.UNREACHABLE);

    outage.recordAnswer();

    assertFalse(outage.suppressesCalls());
  }

  @Test
  void aFailureOfACallThatBeganBeforeAnAnswerIsIgnored() {
    long begun = outage.begin();
    clock.incrementAndGet();
    outage.recordAnswer();

    assertFalse(outage.recordFailure(failure(Reason.ACCESS_DENIED), begun));

    assertFalse(outage.recordFailure(failure(Reason.UNREACHABLE), begun));
    assertFalse(outage.suppressesCalls());
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNREACHABLE")
  void aNodeThatAnswersWithAnErrorIsCalled(Reason reason) {
    record(reason);

    assertFalse(outage.suppressesCalls());
  }

  private boolean record(Reason reason) {
    return outage.recordFailure(failure(reason), outage.begin());
  }

  private void pass(long nanos) {
    clock.addAndGet(nanos);
  }

  @ParameterizedTest
  @EnumSource(
      value = Reason.class,
      names = {"ACCESS_DENIED", "CERTIFICATE_REJECTED", "WRONG_TYPE", "NOT_SUPPORTED", "SCRIPT"})
  void aPermanentFailureIsLoggedImmediatelyAndOnce(Reason reason) {
    assertTrue(record(reason));
    for (int i = 0; i < 10; i++) {
      pass(NodeOutage.QUIET_NANOS);
      assertFalse(record(reason));
    }
    assertTrue(outage.recordAnswer(), "its end is logged too");
    assertFalse(outage.recordAnswer());
  }

  @ParameterizedTest
  @EnumSource(
      value = Reason.class,
      names = {"UNREACHABLE", "NOT_READY", "READ_ONLY", "OUT_OF_MEMORY"})
  void aTransientFailureIsLoggedWhenItHasLasted(Reason reason) {
    assertFalse(record(reason));
    pass(NodeOutage.LASTING_NANOS - 1);
    assertFalse(record(reason));
    pass(1);
    assertTrue(record(reason));
    assertFalse(record(reason));
  }

  @Test
  void aCallThatHungForLongIsALastingOutage() {
    long begun = outage.begin();
    pass(NodeOutage.LASTING_NANOS);

    assertTrue(outage.recordFailure(failure(Reason.UNREACHABLE), begun));
  }

  @Test
  void anOutageThatRecursSoonIsNotLoggedAgain() {
    assertTrue(record(Reason.WRONG_TYPE));
    assertTrue(outage.recordAnswer());
    pass(NodeOutage.QUIET_NANOS - 1);
    assertFalse(record(Reason.WRONG_TYPE));
    assertFalse(outage.recordAnswer());
    pass(1);
    assertTrue(record(Reason.WRONG_TYPE));
  }

  @Test
  void aClientThatWasClosedIsNoOutage() {
    assertFalse(record(Reason.CLIENT_CLOSED));
    assertFalse(outage.recordAnswer());
  }
}
