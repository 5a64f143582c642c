package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.ScriptServer.Keys;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiConsumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import redis.clients.jedis.exceptions.JedisDataException;

@Timeout(60)
@Tag("redis-version")
class AcquireScriptTest {
  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final Keys keys = ScriptServer.fresh();

  /** What "me" finds. */
  enum Free {
    NOTHING((server, keys) -> {}),
    MY_OWN_HOLD((server, keys) -> server.hold(keys, "me", 5_000)),
    ONLY_AN_OLD_TOKEN((server, keys) -> server.put(keys.token(), "7", 5_000));

    @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
    final BiConsumer<ScriptServer, Keys> before;

    Free(BiConsumer<ScriptServer, Keys> before) {
      this.before = before;
    }
  }

  @ParameterizedTest
  @EnumSource
  void isGrantedWithTheLeaseAsTtl(Free state) {
    state.before.accept(redis, keys);

    List<?> answer = redis.acquire(keys, "me", 20_000);

    assertEquals(1L, answer.get(0));
    assertEquals(Long.parseLong(redis.jedis().get(keys.token())), answer.get(1));
    assertEquals(Map.of("me", "1"), redis.jedis().hgetAll(keys.lock()));
    redis.assertTtl(keys.lock(), 20_000);
    redis.assertTtl(keys.token(), 600_000);
    assertEquals(List.of(), redis.heard(), "an acquisition wakes nobody");
  }

  @Test
  void aRepetitionLeavesAHoldWithoutAnEndWithoutOne() {
    redis.holdForEver(keys, "me");

    assertEquals(1L, redis.acquire(keys, "me", 20_000).get(0));

    assertEquals(-1, redis.inspect(keys));
  }

  /** Who else may hold the lock, and what the answer says about its lease. */
  enum Busy {
    OTHER_HOLDER((server, keys) -> server.hold(keys, "other", 40_000), 40_000),
    OTHER_HOLDER_WITHOUT_TTL((server, keys) -> server.holdForEver(keys, "other"), -1),
    REENTERED_BY_A_REDISSON_THREAD(
        (server, keys) -> {
          server.jedis().hset(keys.lock(), "8743c9c0-0795-4907-87fd-6c719a6b4586:1", "3");
          server.jedis().pexpire(keys.lock(), 30_000);
        },
        30_000);

    @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
    final BiConsumer<ScriptServer, Keys> before;

    final long ttlMillis;

    Busy(BiConsumer<ScriptServer, Keys> before, long ttlMillis) {
      this.before = before;
      this.ttlMillis = ttlMillis;
    }
  }

  @ParameterizedTest
  @EnumSource
  void isRefusedWithWhatIsLeftAndWritesNothing(Busy state) {
    state.before.accept(redis, keys);
    Map<String, String> before = redis.jedis().hgetAll(keys.lock());

    List<?> answer = redis.acquire(keys, "me", 20_000);

    assertEquals(0L, answer.get(0));
    long left = (Long) answer.get(1);
    assertTrue(
        left <= state.ttlMillis && left > state.ttlMillis - 5_000, () -> left + " ms are left");
    assertEquals(before, redis.jedis().hgetAll(keys.lock()));
    assertEquals(state.ttlMillis < 0, redis.jedis().pttl(keys.lock()) < 0, "the TTL is as it was");
    assertEquals(Set.of(keys.lock()), redis.jedis().keys("*" + keys.lock() + "*"), "no token used");
  }

  @Test
  void fallsFreeWhenTheOthersLeaseIsOver() {
    redis.hold(keys, "other", 1);

    Awaitility.await().until(() -> redis.acquire(keys, "me", 20_000).get(0).equals(1L));
  }

  @Test // pitfall 20
  void aReadWriteLockIsToldFromAPlainOne() {
    redis.holdForReading(keys, "reader:1");

    JedisDataException refusal =
        assertThrows(JedisDataException.class, () -> redis.acquire(keys, "me", 20_000));

    assertTrue(refusal.getMessage().startsWith("LOCKTYPE "), refusal.getMessage());
    assertTrue(refusal.getMessage().contains("read-write lock"), refusal.getMessage());
    assertEquals(
        Map.of("mode", "read", "reader:1", "1"), redis.jedis().hgetAll(keys.lock()), "untouched");
  }

  @Test
  void aStringInTheWayIsAnErrorAndStays() {
    redis.putStringInTheWay(keys);

    JedisDataException refusal =
        assertThrows(JedisDataException.class, () -> redis.acquire(keys, "me", 20_000));

    assertTrue(refusal.getMessage().contains("WRONGTYPE"), refusal.getMessage());
    assertEquals("a string", redis.jedis().get(keys.lock()));
  }

  @Test
  void aTokenThatIsNoNumberIsReplacedByTheClocks() {
    redis.jedis().set(keys.token(), "not a number");

    List<?> answer = redis.acquire(keys, "me", 20_000);

    assertEquals(1L, answer.get(0));
    assertEquals(Long.toString((Long) answer.get(1)), redis.jedis().get(keys.token()));
  }

  @Test
  void aTokenKeyOfAnotherTypeLeavesNothingHeld() {
    redis.jedis().lpush(keys.token(), "x");

    assertThrows(JedisDataException.class, () -> redis.acquire(keys, "me", 20_000));

    assertEquals(Map.of(), redis.jedis().hgetAll(keys.lock()));
  }

  @Test // pitfalls 12 and 19
  void aRepetitionTakesTheSameHoldOnceMoreWithALargerToken() {
    long first = (Long) redis.acquire(keys, "me", 20_000).get(1);
    List<?> second = redis.acquire(keys, "me", 30_000);

    assertEquals(1L, second.get(0));
    assertTrue((Long) second.get(1) > first);
    assertEquals(Map.of("me", "1"), redis.jedis().hgetAll(keys.lock()), "counted once");
    redis.assertTtl(keys.lock(), 30_000);
    redis.acquire(keys, "me", 1_000);
    redis.assertTtl(keys.lock(), 30_000);
    assertEquals(1L, redis.release(keys, "me").get(0), "one release is enough");
    assertEquals(-2, redis.inspect(keys));
  }
}
