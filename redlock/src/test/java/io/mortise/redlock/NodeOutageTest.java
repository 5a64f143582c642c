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
  private final NodeHealth health = new NodeHealth(clock.get());

  private static LockException failure(Reason reason) {
    return new LockException(reason, "on purpose", null);
  }

  @Test
  void aNewNodeHasNoOutage() {
    assertFalse(health.isUnresponsive(clock.get()));
  }

  @Test
  void anUnreachableNodeIsNotCalledForAWhile() {
    record(Reason.UNREACHABLE);
    assertTrue(health.isUnresponsive(clock.get()));

    clock.addAndGet(NodeHealth.PAUSE_NANOS - 1);
    assertTrue(health.isUnresponsive(clock.get()));
    clock.incrementAndGet();
    assertFalse(health.isUnresponsive(clock.get()), "the first caller is let through");
    assertTrue(health.isUnresponsive(clock.get()), "the others stay suppressed");
  }

  @Test
  void anAnswerEndsIt() {
    record(Reason.UNREACHABLE);

    health.recordAnswer(clock.get());

    assertFalse(health.isUnresponsive(clock.get()));
  }

  @Test
  void aFailureOfACallThatBeganBeforeAnAnswerIsIgnored() {
    long begun = clock.get();
    clock.incrementAndGet();
    health.recordAnswer(clock.get());

    assertFalse(health.recordFailure(failure(Reason.ACCESS_DENIED), begun, clock.get()));

    assertFalse(health.recordFailure(failure(Reason.UNREACHABLE), begun, clock.get()));
    assertFalse(health.isUnresponsive(clock.get()));
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "UNREACHABLE")
  void aNodeThatAnswersWithAnErrorIsCalled(Reason reason) {
    record(reason);

    assertFalse(health.isUnresponsive(clock.get()));
  }

  private boolean record(Reason reason) {
    return health.recordFailure(failure(reason), clock.get(), clock.get());
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
      pass(NodeHealth.QUIET_NANOS);
      assertFalse(record(reason));
    }
    assertTrue(health.recordAnswer(clock.get()), "its end is logged too");
    assertFalse(health.recordAnswer(clock.get()));
  }

  @ParameterizedTest
  @EnumSource(
      value = Reason.class,
      names = {"UNREACHABLE", "NOT_READY", "READ_ONLY", "OUT_OF_MEMORY"})
  void aTransientFailureIsLoggedWhenItHasLasted(Reason reason) {
    assertFalse(record(reason));
    pass(NodeHealth.LASTING_NANOS - 1);
    assertFalse(record(reason));
    pass(1);
    assertTrue(record(reason));
    assertFalse(record(reason));
  }

  @Test
  void aCallThatHungForLongIsALastingOutage() {
    long begun = clock.get();
    pass(NodeHealth.LASTING_NANOS);

    assertTrue(health.recordFailure(failure(Reason.UNREACHABLE), begun, clock.get()));
  }

  @Test
  void anOutageThatRecursSoonIsNotLoggedAgain() {
    assertTrue(record(Reason.WRONG_TYPE));
    assertTrue(health.recordAnswer(clock.get()));
    pass(NodeHealth.QUIET_NANOS - 1);
    assertFalse(record(Reason.WRONG_TYPE));
    assertFalse(health.recordAnswer(clock.get()));
    pass(1);
    assertTrue(record(Reason.WRONG_TYPE));
  }

  @Test
  void aClientThatWasClosedIsNoOutage() {
    assertFalse(record(Reason.CLIENT_CLOSED));
    assertFalse(health.recordAnswer(clock.get()));
  }
}
