package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.ScriptServer.Keys;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
@Tag("redis-version")
class RenewScriptTest {
  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final Keys keys = ScriptServer.fresh();

  /** What "me" finds, what the answer is, and the TTL after a renewal for 20 s. */
  enum State {
    MY_HOLD((server, keys) -> server.hold(keys, "me", 5_000), 1, 20_000),
    MY_HOLD_THAT_IS_LONGER((server, keys) -> server.hold(keys, "me", 50_000), 1, 50_000),
    MY_HOLD_WITHOUT_TTL((server, keys) -> server.holdForEver(keys, "me"), 1, -1),
    NOTHING((server, keys) -> {}, 0, -2),
    OTHER_HOLDER((server, keys) -> server.hold(keys, "other", 40_000), 0, 40_000),
    OTHER_HOLDER_WITHOUT_TTL((server, keys) -> server.holdForEver(keys, "other"), 0, -1),
    READ_WRITE_LOCK((server, keys) -> server.holdForReading(keys, "reader:1"), 0, 30_000),
    FORCED_FROM_ME((server, keys) -> server.jedis().set(keys.forced(), "me"), 2, -2),
    FORCED_FROM_ANOTHER((server, keys) -> server.jedis().set(keys.forced(), "other"), 0, -2),
    STRING_IN_THE_WAY((server, keys) -> server.putStringInTheWay(keys), 0, -1);

    @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
    final BiConsumer<ScriptServer, Keys> before;

    final long answer;
    final long ttlMillis;

    State(BiConsumer<ScriptServer, Keys> before, long answer, long ttlMillis) {
      this.before = before;
      this.answer = answer;
      this.ttlMillis = ttlMillis;
    }

    void check(Keys keys) {
      long ttl = redis.jedis().pttl(keys.lock());
      assertTrue(
          ttl <= ttlMillis && ttl > ttlMillis - 5_000 && (ttl < 0) == (ttlMillis < 0),
          () -> this + " lives for " + ttl + " ms");
    }
  }

  @ParameterizedTest
  @EnumSource
  void renewsWhatIsMineAndNothingElse(State state) {
    state.before.accept(redis, keys);

    assertEquals(state.answer, redis.renew(keys, "me", 20_000));

    state.check(keys);
    assertEquals(List.of(), redis.heard(), "nobody is woken");
  }

  @Test // pitfall 9
  void eachHoldOfABatchHasItsOwnAnswerAtItsPlace() {
    List<State> states = new ArrayList<>();
    for (State state : State.values()) {
      states.addAll(Collections.nCopies(5, state));
    }
    Collections.shuffle(states);
    List<Keys> locks = new ArrayList<>();
    List<String> names = new ArrayList<>();
    List<Object> arguments = new ArrayList<>();
    for (State state : states) {
      Keys lock = ScriptServer.fresh();
      state.before.accept(redis, lock);
      locks.add(lock);
      names.addAll(List.of(lock.lock(), lock.forced()));
      arguments.addAll(List.of("me", 20_000));
    }

    Object answers = redis.run("lock/renew", names, arguments.toArray());

    assertEquals(states.stream().map(state -> state.answer).toList(), answers);
    for (int i = 0; i < states.size(); i++) {
      states.get(i).check(locks.get(i));
    }
  }

  @Test
  void aBatchMayBeLarge() {
    List<String> names = new ArrayList<>();
    List<Object> arguments = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      Keys lock = ScriptServer.fresh();
      redis.hold(lock, "me", 5_000);
      names.addAll(List.of(lock.lock(), lock.forced()));
      arguments.addAll(List.of("me", 20_000 + i));
    }

    Object answers = redis.run("lock/renew", names, arguments.toArray());

    assertEquals(Collections.nCopies(500, 1L), answers);
    redis.assertTtl(names.get(0), 20_000);
    redis.assertTtl(names.get(998), 20_499);
  }

  @Test // pitfall 11
  void neverRevivesWhatWasReleased() {
    redis.acquire(keys, "me", 20_000);
    redis.release(keys, "me");

    assertEquals(0, redis.renew(keys, "me", 20_000));
    assertEquals(0, redis.renew(keys, "me", 20_000));

    assertEquals(Map.of(), redis.jedis().hgetAll(keys.lock()));
  }
}
