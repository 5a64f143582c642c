package io.mortise.it.fairlock;

import static io.mortise.it.fairlock.ScriptedQueue.holder;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.it.support.ScriptServer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whatever ends the hold of a fair lock, notifies those that wait for a plain one of its name. */
@Timeout(30)
@Tag("redis-version")
class PlainWaiterScriptTest {
  private static final String WAITER = "aaaaaaaa-0000-8000-8000-aaaaaaaaaaaa";

  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final ScriptedQueue fair = new ScriptedQueue(redis.server());

  /** Ends the hold; returns the number of notified subscribers. */
  private long end(String script) {
    return switch (script) {
      case "release" -> fair.release("me").get(1);
      case "keep" -> fair.keep("me", 5_000).get(1);
      case "leave" -> fair.leave("me").get(1);
      default -> fair.force() + 1; // it does not answer that
    };
  }

  private void given(String queue) {
    fair.heldBy("me", 10_000);
    fair.queued(queue);
    redis.jedis().zadd(fair.waiters, 1, WAITER + ":1-2-3");
    redis.jedis().zadd(fair.waiters, 2, holder("second"));
    redis.published();
  }

  @ParameterizedTest(name = "fair/{0}, queue: {1}")
  @CsvSource(
      delimiter = '|',
      value = {
        "release | ''", "keep | ''", "leave | ''", "force | ''",
        "release | A!", "keep | A!", "leave | A!", "force | A!",
      })
  void theFirstIsNotifiedWhenNobodyIsQueued(String script, String queue) {
    given(queue);
    assertEquals(2, end(script), "the test hears both channels");
    assertEquals(
        List.of(fair.channels + " 0", fair.channels + ":" + WAITER + " 0"), redis.published());
    assertEquals(2, redis.jedis().zcard(fair.waiters), "it stays the first");
  }

  @ParameterizedTest(name = "fair/{0}")
  @CsvSource({"release", "keep", "leave", "force"})
  void nobodyIsNotifiedBesideTheHeadOfTheQueue(String script) {
    given("A");
    end(script);
    assertEquals(List.of(fair.channels + ":" + holder("A") + " 0"), redis.published());
  }
}
