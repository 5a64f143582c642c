package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.ScriptServer.Keys;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.exceptions.JedisDataException;

/** The raising of the last fencing token, by one who holds the lock. */
@Timeout(60)
@Tag("redis-version")
class RaiseScriptTest {
  private static final String PRESENT = "5000000000000000";

  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final Keys keys = ScriptServer.fresh();

  @ParameterizedTest(name = "{0} by {1}")
  @CsvSource({
    PRESENT + ", 4999999999999999, " + PRESENT,
    PRESENT + ", " + PRESENT + ", " + PRESENT,
    PRESENT + ", 5000000000000001, 5000000000000001",
    PRESENT + ", 9007199254740991, 9007199254740991", // the largest below 2^53
    "41, 42, 42",
    "not a number, 42, 42",
    ", 42, 42",
  })
  void theLargerOneStandsAndLivesOn(String present, String token, String then) {
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
    assertEquals(List.of(), redis.heard(), "it wakes nobody");
  }

  @Test
  void theNextHoldersTokenIsLarger() {
    long token = (Long) redis.acquire(keys, "me", 20_000).get(1);
    assertEquals(1, redis.raise(keys, "me", Long.toString(token + 3_600_000_000L), 600_000));
    redis.release(keys, "me");

    assertEquals(token + 3_600_000_001L, redis.acquire(keys, "next", 20_000).get(1));
  }

  @Test
  void aRepetitionChangesNothingButTheLifeOfTheKey() {
    redis.hold(keys, "me", 40_000);
    redis.raise(keys, "me", "42", 600_000);

    assertEquals(1, redis.raise(keys, "me", "42", 30_000));

    assertEquals("42", redis.jedis().get(keys.token()));
    redis.assertTtl(keys.token(), 30_000);
  }

  @ParameterizedTest
  @ValueSource(strings = {"nobody", "other", "me, for reading only"})
  void whoDoesNotHoldRaisesNothing(String holder) {
    switch (holder) {
      case "other" -> redis.hold(keys, "other", 40_000);
      case "nobody" -> assertFalse(redis.jedis().exists(keys.lock()));
      default -> redis.holdForReading(keys, "me");
    }
    redis.jedis().set(keys.token(), PRESENT);
    Map<String, String> before = redis.jedis().hgetAll(keys.lock());

    assertEquals(0, redis.raise(keys, "me:write", "9000000000000000", 60_000));

    assertEquals(PRESENT, redis.jedis().get(keys.token()));
    assertEquals(-1, redis.jedis().pttl(keys.token()), "its life is as it was");
    assertEquals(before, redis.jedis().hgetAll(keys.lock()));
  }

  @Test
  void whoDoesNotHoldMakesNoTokenKey() {
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

  @Test
  void aStringInTheWayIsAnErrorAndStays() {
    redis.putStringInTheWay(keys);

    JedisDataException refusal =
        assertThrows(JedisDataException.class, () -> redis.raise(keys, "me", "42", 60_000));

    assertTrue(refusal.getMessage().contains("WRONGTYPE"), refusal.getMessage());
    assertEquals("a string", redis.jedis().get(keys.lock()));
    assertNull(redis.jedis().get(keys.token()));
  }
}
