package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.ScriptServer.Keys;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.exceptions.JedisDataException;

@Timeout(60)
@Tag("redis-version")
class InspectScriptTest {
  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final Keys keys = ScriptServer.fresh();

  /** What stands in Redis, and what is said about it. */
  enum State {
    NOTHING((server, keys) -> {}, -2),
    HELD((server, keys) -> server.hold(keys, "somebody", 25_000), 25_000),
    HELD_FOR_EVER((server, keys) -> server.holdForEver(keys, "somebody"), -1),
    ONLY_A_TOKEN((server, keys) -> server.jedis().set(keys.token(), "7"), -2);

    @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
    final BiConsumer<ScriptServer, Keys> before;

    final long answer;

    State(BiConsumer<ScriptServer, Keys> before, long answer) {
      this.before = before;
      this.answer = answer;
    }
  }

  @ParameterizedTest
  @EnumSource
  void saysForHowLongTheLockIsHeld(State state) {
    state.before.accept(redis, keys);

    long answer = redis.inspect(keys);

    assertTrue(
        answer <= state.answer && answer > state.answer - (state.answer < 0 ? 1 : 5_000),
        () -> "the answer is " + answer);
    assertEquals(Long.signum(answer), Long.signum(redis.inspect(keys)), "nothing changed");
  }

  @Test // pitfall 20
  void aReadWriteLockIsToldFromAPlainOne() {
    redis.holdForReading(keys, "reader:1");
    JedisDataException refusal = assertThrows(JedisDataException.class, () -> redis.inspect(keys));
    assertTrue(refusal.getMessage().startsWith("LOCKTYPE "), refusal.getMessage());
  }

  @Test
  void aStringInTheWayIsAnError() {
    redis.putStringInTheWay(keys);
    assertThrows(JedisDataException.class, () -> redis.inspect(keys));
  }
}
