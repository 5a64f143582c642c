package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.it.scripts.LockScripts.Keys;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

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
  @MethodSource("io.mortise.it.scripts.LockState#withoutMyHold")
  void changesNoOtherHoldAndAnswersWhy(LockState state, long answer) {
    state.write(redis, keys);

    redis.assertEndsNothing(keys, answer, () -> redis.release(keys, "me"));
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
