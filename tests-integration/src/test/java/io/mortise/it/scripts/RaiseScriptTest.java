package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.mortise.it.scripts.LockScripts.Keys;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** A holder raises the last fencing token. */
@Timeout(60)
@Tag("redis-version")
class RaiseScriptTest {
  private static final String PRESENT = "5000000000000000";

  @RegisterExtension static final LockScripts redis = new LockScripts();

  private final Keys keys = LockScripts.freshKeys();

  @ParameterizedTest(name = "{0} by {1}")
  @CsvSource({
    PRESENT + ", 4999999999999999, " + PRESENT,
    PRESENT + ", " + PRESENT + ", " + PRESENT,
    PRESENT + ", 5000000000000001, 5000000000000001",
    PRESENT + ", 9007199254740991, 9007199254740991", // the largest below 2^53
    "41, 42, 42",
    "not a number, 42, 42",
    "nan, 42, 42",
    "9007199254740992, 42, 42",
    ", 42, 42",
  })
  void theLargerTokenIsStoredWithItsTtl(String present, String token, String then) {
    redis.hold(keys, "me", 40_000);
    if (present != null) {
      redis.put(keys.token(), present, 5_000);
    }

    assertEquals(1, redis.raise(keys, "me", token, 60_000));

    assertEquals(then, redis.jedis().get(keys.token()));
    long ahead = Long.parseLong(then) / 1_000 - Long.parseLong(redis.jedis().time().get(0)) * 1_000;
    redis.assertTtl(keys.token(), 60_000 + Math.max(ahead, 0) + 1_000);
    assertEquals(Map.of("me", "1"), redis.jedis().hgetAll(keys.lock()));
    redis.assertTtl(keys.lock(), 40_000);
    assertEquals(List.of(), redis.published(), "nobody is notified");
  }

  @Test
  void theTokenOfTheNextHolderIsLarger() {
    long token = (Long) redis.acquire(keys, "me", 20_000).get(1);
    assertEquals(1, redis.raise(keys, "me", Long.toString(token + 3_600_000_000L), 600_000));
    redis.release(keys, "me");

    assertEquals(token + 3_600_000_001L, redis.acquire(keys, "next", 20_000).get(1));
  }

  @Test
  void aRepetitionChangesNothingButTheTtlOfTheKey() {
    redis.hold(keys, "me", 40_000);
    redis.raise(keys, "me", "42", 600_000);

    assertEquals(1, redis.raise(keys, "me", "42", 30_000));

    assertEquals("42", redis.jedis().get(keys.token()));
    redis.assertTtl(keys.token(), 30_000);
  }

  @ParameterizedTest
  @EnumSource(names = {"FREE", "OTHER_HOLDER", "READ_WRITE_LOCK"})
  void onlyAHolderRaisesTheToken(LockState state) {
    state.write(redis, keys);
    redis.jedis().set(keys.token(), PRESENT);
    Map<String, String> before = redis.jedis().hgetAll(keys.lock());

    assertEquals(0, redis.raise(keys, "reader:1:write", "9000000000000000", 60_000));

    assertEquals(PRESENT, redis.jedis().get(keys.token()));
    assertEquals(-1, redis.jedis().pttl(keys.token()), "the TTL is as it was");
    assertEquals(before, redis.jedis().hgetAll(keys.lock()));
  }

  @Test
  void withoutAHoldNoTokenKeyIsMade() {
    assertEquals(0, redis.raise(keys, "me", "42", 60_000));

    assertNull(redis.jedis().get(keys.token()));
    assertFalse(redis.jedis().exists(keys.lock()));
  }

  @Test
  void aWriterRaisesByItsOwnField() {
    redis.jedis().hset(keys.lock(), Map.of("mode", "write", "me:write", "1"));

    assertEquals(0, redis.raise(keys, "me", "42", 60_000));
    assertEquals(1, redis.raise(keys, "me:write", "42", 60_000));

    assertEquals("42", redis.jedis().get(keys.token()));
    assertEquals(Map.of("mode", "write", "me:write", "1"), redis.jedis().hgetAll(keys.lock()));
  }
}
