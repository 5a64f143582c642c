package io.mortise.schedules.model;

import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.schedules.model.Actor.Outcome;

/** How a call ends. */
enum Verdict {
  DONE,
  /** False, or no lease. */
  REFUSED,
  NOT_HELD,
  LOST,
  DEADLOCK,
  INTERRUPTED,
  CLOSED,
  FAILED;

  static Verdict of(Outcome outcome) {
    Throwable thrown = outcome.thrown();
    if (thrown == null) {
      return outcome.value() == null ? REFUSED : DONE;
    }
    if (thrown instanceof LeaseLostException) {
      return LOST;
    }
    if (thrown instanceof InterruptedException) {
      return INTERRUPTED;
    }
    if (thrown instanceof IllegalMonitorStateException) {
      return NOT_HELD;
    }
    if (thrown instanceof LockException refused
        && refused.reason() == LockException.Reason.CLIENT_CLOSED) {
      return CLOSED;
    }
    return thrown instanceof IllegalStateException ? DEADLOCK : FAILED;
  }
}
