package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.ScriptServer.Keys;
import java.util.List;
import java.util.Map;
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
class ReleaseScriptTest {
  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final Keys keys = ScriptServer.fresh();

  @Test
  void freesTheLockAndPublishesOnceOnItsChannel() {
    redis.acquire(keys, "me", 20_000);
    redis.heard();

    assertEquals(List.of(1L, 1L), redis.release(keys, "me"), "released, and one subscriber heard");

    assertEquals(List.of(keys.channel() + " 0"), redis.heard());
    assertEquals(Map.of(), redis.jedis().hgetAll(keys.lock()));
    assertEquals(-2, redis.jedis().pttl(keys.lock()));
  }

  @Test
  void freesAHoldWithoutTtlToo() {
    redis.holdForEver(keys, "me");
    assertEquals(1L, redis.release(keys, "me").get(0));
    assertEquals(-2, redis.jedis().pttl(keys.lock()));
  }

  /** Where "me" holds nothing. */
  enum NotMine {
    NOTHING((server, keys) -> {}, 0),
    OTHER_HOLDER((server, keys) -> server.hold(keys, "other", 40_000), 0),
    OTHER_HOLDER_WITHOUT_TTL((server, keys) -> server.holdForEver(keys, "other"), 0),
    READ_WRITE_LOCK((server, keys) -> server.holdForReading(keys, "reader:1"), 0),
    FORCED_FROM_ANOTHER((server, keys) -> server.jedis().set(keys.forced(), "other"), 0),
    FORCED_FROM_ME((server, keys) -> server.jedis().set(keys.forced(), "me"), 2),
    FORCED_FROM_ME_AND_TAKEN(
        (server, keys) -> {
          server.jedis().set(keys.forced(), "me");
          server.hold(keys, "other", 40_000);
        },
        2);

    @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
    final BiConsumer<ScriptServer, Keys> before;

    final long answer;

    NotMine(BiConsumer<ScriptServer, Keys> before, long answer) {
      this.before = before;
      this.answer = answer;
    }
  }

  @ParameterizedTest
  @EnumSource
  void touchesNothingThatIsNotMineAndSaysWhy(NotMine state) {
    state.before.accept(redis, keys);
    Map<String, String> before = redis.jedis().hgetAll(keys.lock());
    long ttl = redis.jedis().pttl(keys.lock());

    assertEquals(List.of(state.answer, 0L), redis.release(keys, "me"));

    assertEquals(List.of(), redis.heard(), "nobody is woken");
    assertEquals(before, redis.jedis().hgetAll(keys.lock()));
    assertTrue(redis.jedis().pttl(keys.lock()) >= Math.min(ttl, ttl - 5_000));
  }

  @Test // pitfall 12
  void aRepetitionHitsNoNewerHold() {
    redis.acquire(keys, "client:1", 20_000);
    redis.release(keys, "client:1");
    redis.acquire(keys, "client:2", 20_000);
    redis.heard();

    assertEquals(List.of(0L, 0L), redis.release(keys, "client:1"));
    assertEquals(List.of(0L, 0L), redis.release(keys, "client:1"));

    assertEquals(Map.of("client:2", "1"), redis.jedis().hgetAll(keys.lock()));
    assertEquals(List.of(), redis.heard());
  }

  @Test
  void aStringInTheWayIsAnErrorAndStays() {
    redis.putStringInTheWay(keys);
    JedisDataException refusal =
        assertThrows(JedisDataException.class, () -> redis.release(keys, "me"));
    assertTrue(refusal.getMessage().contains("WRONGTYPE"), refusal.getMessage());
    assertEquals("a string", redis.jedis().get(keys.lock()));
  }
}
