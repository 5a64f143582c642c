package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.LockScripts.Keys;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.exceptions.JedisDataException;

@Timeout(60)
@Tag("redis-version")
class AcquireScriptTest {
  @RegisterExtension static final LockScripts redis = new LockScripts();

  private final Keys keys = LockScripts.freshKeys();

  @ParameterizedTest
  @EnumSource(names = {"FREE", "MY_HOLD", "TOKEN"})
  void isGrantedWithTheLeaseAsTtl(LockState state) {
    state.write(redis, keys);

    List<?> answer = redis.acquire(keys, "me", 20_000);

    assertEquals(1L, answer.get(0));
    assertEquals(Long.parseLong(redis.jedis().get(keys.token())), answer.get(1));
    assertEquals(Map.of("me", "1"), redis.jedis().hgetAll(keys.lock()));
    redis.assertTtl(keys.lock(), 20_000);
    redis.assertTtl(keys.token(), 600_000);
    assertEquals(List.of(), redis.published(), "an acquisition notifies nobody");
  }

  @Test
  void aRepetitionGivesNoTtlToAHoldWithoutOne() {
    redis.holdWithoutTtl(keys, "me");

    assertEquals(1L, redis.acquire(keys, "me", 20_000).get(0));

    assertEquals(-1, redis.inspect(keys));
  }

  @ParameterizedTest
  @CsvSource({
    "OTHER_HOLDER, 40000",
    "OTHER_HOLDER_WITHOUT_TTL, -1",
    "REENTERED_BY_REDISSON, 30000"
  })
  void isRefusedWithTheRemainingLeaseAndWritesNothing(LockState state, long ttlMillis) {
    state.write(redis, keys);
    Map<String, String> before = redis.jedis().hgetAll(keys.lock());

    List<?> answer = redis.acquire(keys, "me", 20_000);

    assertEquals(0L, answer.get(0));
    long left = (Long) answer.get(1);
    assertTrue(left <= ttlMillis && left > ttlMillis - 5_000, () -> left + " ms are left");
    assertEquals(before, redis.jedis().hgetAll(keys.lock()));
    assertEquals(ttlMillis < 0, redis.jedis().pttl(keys.lock()) < 0, "the TTL is as it was");
    assertEquals(Set.of(keys.lock()), redis.jedis().keys("*" + keys.lock() + "*"), "no token used");
  }

  @Test
  void isGrantedWhenTheLeaseOfTheOtherHolderExpires() {
    redis.hold(keys, "other", 1);

    Awaitility.await().until(() -> redis.acquire(keys, "me", 20_000).get(0).equals(1L));
  }

  private static long seconds() {
    return Long.parseLong(redis.jedis().time().get(0));
  }

  /** To Lua the last ones are numbers, and none is larger than they are. */
  @ParameterizedTest
  @ValueSource(strings = {"not a number", "-1", "nan", "-nan", "inf", "1e300", "9007199254740992"})
  void aTokenThatCanBeNoneIsReplacedByTheTime(String value) {
    redis.jedis().set(keys.token(), value);
    long before = seconds();

    List<?> answer = redis.acquire(keys, "me", 20_000);

    assertEquals(1L, answer.get(0));
    long token = (Long) answer.get(1);
    assertTrue(before <= token / 1_000_000 && token / 1_000_000 <= seconds(), () -> "" + token);
    assertEquals(Long.toString(token), redis.jedis().get(keys.token()));
  }

  @Test
  void aTokenKeyOfAnotherTypeLeavesNothingHeld() {
    LockState.TOKEN_OF_ANOTHER_TYPE.write(redis, keys);

    assertThrows(JedisDataException.class, () -> redis.acquire(keys, "me", 20_000));

    assertEquals(Map.of(), redis.jedis().hgetAll(keys.lock()));
  }

  @Test
  void aRepetitionIsGrantedTheSameHoldWithALargerToken() {
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
