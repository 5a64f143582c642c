package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.LockScripts.Keys;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
@Tag("redis-version")
class ReleaseScriptTest {
  @RegisterExtension static final LockScripts redis = new LockScripts();

  private final Keys keys = LockScripts.freshKeys();

  @Test
  void releasesTheLockAndPublishesOnceOnItsChannel() {
    redis.acquire(keys, "me", 20_000);
    redis.published();

    assertEquals(
        List.of(1L, 1L), redis.release(keys, "me"), "released, and one subscriber notified");

    assertEquals(List.of(keys.channel() + " 0"), redis.published());
    assertEquals(Map.of(), redis.jedis().hgetAll(keys.lock()));
    assertEquals(-2, redis.jedis().pttl(keys.lock()));
  }

  @Test
  void releasesAHoldWithoutTtlToo() {
    redis.holdWithoutTtl(keys, "me");
    assertEquals(1L, redis.release(keys, "me").get(0));
    assertEquals(-2, redis.jedis().pttl(keys.lock()));
  }

  @ParameterizedTest
  @CsvSource({
    "FREE, 0",
    "OTHER_HOLDER, 0",
    "OTHER_HOLDER_WITHOUT_TTL, 0",
    "READ_WRITE_LOCK, 0",
    "FORCED_FROM_ANOTHER, 0",
    "FORCED_FROM_ME, 2",
    "FORCED_FROM_ME_AND_TAKEN, 2"
  })
  void changesNoOtherHoldAndAnswersWhy(LockState state, long answer) {
    state.write(redis, keys);
    Map<String, String> before = redis.jedis().hgetAll(keys.lock());
    long ttl = redis.jedis().pttl(keys.lock());

    assertEquals(List.of(answer, 0L), redis.release(keys, "me"));

    assertEquals(List.of(), redis.published(), "nobody is notified");
    assertEquals(before, redis.jedis().hgetAll(keys.lock()));
    assertTrue(redis.jedis().pttl(keys.lock()) >= Math.min(ttl, ttl - 5_000));
  }

  @Test
  void aRepetitionReleasesNoNewerHold() {
    redis.acquire(keys, "client:1", 20_000);
    redis.release(keys, "client:1");
    redis.acquire(keys, "client:2", 20_000);
    redis.published();

    assertEquals(List.of(0L, 0L), redis.release(keys, "client:1"));
    assertEquals(List.of(0L, 0L), redis.release(keys, "client:1"));

    assertEquals(Map.of("client:2", "1"), redis.jedis().hgetAll(keys.lock()));
    assertEquals(List.of(), redis.published());
  }
}
