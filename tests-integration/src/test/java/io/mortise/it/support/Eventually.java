package io.mortise.it.support;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.awaitility.core.ThrowingRunnable;
import org.awaitility.pollinterval.PollInterval;

/** Waits for conditions, at most as long as working code ever takes on a busy machine. */
public final class Eventually {
  /** The limit of all waits here. */
  public static final Duration LIVENESS = Duration.ofSeconds(20);

  private static final Duration AT_FIRST = Duration.ofMillis(5);
  private static final Duration LATER = Duration.ofMillis(20);
  private static final int FIRST_POLLS = 20;

  private Eventually() {}

  /** Waits until the condition holds. */
  public static void until(String what, Callable<Boolean> condition) {
    await(what).pollInterval(interval()).until(condition);
  }

  /** Waits until the assertion holds. */
  public static void untilAsserted(String what, ThrowingRunnable assertion) {
    await(what).pollInterval(interval()).untilAsserted(assertion);
  }

  /** Waits for that time, in which the condition must hold at each poll. */
  public static void holdsFor(Duration time, String what, Callable<Boolean> condition) {
    await(what)
        .pollInterval(AT_FIRST)
        .during(time)
        .failFast(what, () -> !condition.call())
        .until(condition);
  }

  /**
   * The pauses between two polls. Most conditions hold within a moment; a poll of the servers, with
   * a connection to each of them, takes a good part of a processor from what a longer wait is for.
   */
  private static PollInterval interval() {
    return (polls, previous) -> polls <= FIRST_POLLS ? AT_FIRST : LATER;
  }

  private static ConditionFactory await(String what) {
    return Awaitility.await(what)
        .pollInSameThread() // which may own the lock that the condition asks about
        .pollDelay(Duration.ZERO)
        .atMost(LIVENESS);
  }
}
