package io.mortise.testkit;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Waits until several servers have reached a state.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class Await {
  /** For busy machines: a sentinel that was not run for 2 s does nothing for another 30 s. */
  private static final Duration LIMIT = Duration.ofMinutes(2);

  private static final Duration POLL = Duration.ofMillis(25);

  private Await() {}

  /**
   * Returns when the condition holds. A server that does not answer meanwhile, or with an error, is
   * asked again.
   *
   * @param diagnosis what the servers report instead, for the message
   * @throws IllegalStateException after two minutes
   */
  static void until(String fact, Callable<Boolean> condition, Supplier<String> diagnosis) {
    try {
      Awaitility.await(fact)
          .pollInSameThread()
          .pollDelay(Duration.ZERO)
          .pollInterval(POLL)
          .atMost(LIMIT)
          .ignoreExceptionsInstanceOf(JedisException.class)
          .until(condition);
    } catch (ConditionTimeoutException e) {
      throw new IllegalStateException(
          "not within %d s: %s; instead:%n%s".formatted(LIMIT.toSeconds(), fact, diagnosis.get()),
          e);
    }
  }
}
