package io.mortise.it.support;

import java.time.Duration;
import java.util.concurrent.Callable;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.awaitility.core.ThrowingRunnable;

/** Waits for conditions, at most as long as working code ever takes on a busy machine. */
public final class Eventually {
  /** The limit of all waits here. */
  public static final Duration LIVENESS = Duration.ofSeconds(20);

  private Eventually() {}

  /** Waits until the condition holds. */
  public static void until(String what, Callable<Boolean> condition) {
    await(what).until(condition);
  }

  /** Waits until the assertion holds. */
  public static void untilAsserted(String what, ThrowingRunnable assertion) {
    await(what).untilAsserted(assertion);
  }

  /** Waits for that time, in which the condition must hold at each poll. */
  public static void holdsFor(Duration time, String what, Callable<Boolean> condition) {
    await(what).during(time).failFast(what, () -> !condition.call()).until(condition);
  }

  private static ConditionFactory await(String what) {
    return Awaitility.await(what)
        .pollInSameThread() // which may own the lock that the condition asks about
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(5))
        .atMost(LIVENESS);
  }
}
