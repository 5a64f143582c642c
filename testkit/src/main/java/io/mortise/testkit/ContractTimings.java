package io.mortise.testkit;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.LockException;
import java.time.Duration;
import java.util.concurrent.Callable;

/**
 * The times of the contracts; they differ by far more than a busy machine is late.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class ContractTimings {
  /** Longer than any test: no such lease and no such wait ends by itself. */
  static final Duration LONG = Duration.ofMinutes(2);

  /** Short enough that a test can wait for its end. */
  static final Duration SHORT = Duration.ofMillis(300);

  /** How late anything may be on a busy machine; far below {@link #LONG}. */
  static final Duration SLACK = Duration.ofSeconds(10);

  /** Within this time a place in a queue that was left is gone; below the waiter timeout, 10 s. */
  static final Duration SOON = Duration.ofSeconds(5);

  /** Within this time a waiter has subscribed, has made its second attempt, and is parked. */
  static final Duration PARKED = Duration.ofMillis(150);

  private static final int WAITS = 3;

  /** The reply to the last command has 200 ms after a wait; the rest is for the clocks. */
  private static final Duration LAST_REPLY = Duration.ofMillis(150);

  private ContractTimings() {}

  /** Asserts that the action takes at least that long, and not {@link #SLACK} longer. */
  static void assertTakes(Duration least, TestThread.Action action) throws Exception {
    long start = System.nanoTime();
    action.run();
    Duration took = Duration.ofNanos(System.nanoTime() - start);
    assertTrue(took.compareTo(least) >= 0, took::toString);
    assertTrue(took.compareTo(least.plus(SLACK)) < 0, took::toString);
  }

  /**
   * Returns what a wait of {@link #SHORT} returns that ends without the lock. When the machine
   * stands still at its end, the reply to its last command comes too late: then it throws, when the
   * time of that reply is over, that it does not know, and is done again.
   */
  static <T> T answered(Callable<T> wait) throws Exception {
    for (int more = WAITS - 1; more > 0; more--) {
      long start = System.nanoTime();
      try {
        return wait.call();
      } catch (LockException unanswered) {
        boolean late = System.nanoTime() - start >= SHORT.plus(LAST_REPLY).toNanos();
        if (!late || unanswered.reason() != LockException.Reason.UNREACHABLE) {
          throw unanswered;
        }
      }
    }
    return wait.call();
  }

  /** Asserts that this is what remains of a lease that has just begun. */
  static void assertLeft(Duration lease, Duration left) {
    assertTrue(left.compareTo(lease) <= 0, left::toString);
    assertTrue(left.compareTo(lease.minus(SLACK)) > 0, left::toString);
  }
}
