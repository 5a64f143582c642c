package io.mortise.it.chaos;

import java.util.Optional;
import org.awaitility.core.ConditionTimeoutException;

/** What a check finds that waits until nothing is left. */
final class Left {
  private Left() {}

  /** Runs the check; returns what it complains about in one line, if it does. */
  static Optional<String> of(Runnable check) {
    try {
      check.run();
      return Optional.empty();
    } catch (ConditionTimeoutException e) {
      return Optional.of(String.valueOf(e.getMessage()).replace('\n', ' '));
    }
  }
}
