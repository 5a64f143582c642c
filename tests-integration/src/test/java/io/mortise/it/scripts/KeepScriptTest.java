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
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
@Tag("redis-version")
class KeepScriptTest {
  @RegisterExtension static final LockScripts redis = new LockScripts();

  private static final Map<String, String> KEPT = Map.of("me:kept", "1");

  private final Keys keys = LockScripts.freshKeys();

  @ParameterizedTest
  @ValueSource(longs = {15_000, 60_000})
  void theLockStaysBusyForTheRestAndItsWaitersAreNotified(long rest) {
    redis.acquire(keys, "me", 30_000);
    redis.published();

    assertEquals(List.of(1L, 1L), redis.keep(keys, "me", rest));

    assertEquals(List.of(keys.channel() + " 0"), redis.published());
    assertEquals(KEPT, redis.jedis().hgetAll(keys.lock()));
    long left = redis.inspect(keys);
    assertTrue(left <= rest && left > rest - 10_000, () -> "" + left);
    assertEquals(0L, redis.acquire(keys, "other", 20_000).get(0));
  }

  @Test
  void nothingOfTheHolderFindsTheRest() {
    redis.acquire(keys, "me", 30_000);
    redis.keep(keys, "me", 15_000);
    redis.published();

    assertEquals(List.of(0L, 0L), redis.keep(keys, "me", 29_000), "repeated");
    assertEquals(List.of(0L, 0L), redis.release(keys, "me"));
    assertEquals(0, redis.renew(keys, "me", 30_000));
    assertEquals(0L, redis.acquire(keys, "me", 30_000).get(0), "a late attempt");

    assertEquals(List.of(), redis.published());
    assertEquals(KEPT, redis.jedis().hgetAll(keys.lock()));
    assertTrue(redis.inspect(keys) <= 15_000);
  }

  @Test
  void aForcedReleaseEndsTheRest() {
    redis.acquire(keys, "me", 30_000);
    redis.keep(keys, "me", 15_000);

    assertEquals(1, redis.force(keys, 1_000));

    assertEquals(-2, redis.inspect(keys));
  }

  @ParameterizedTest
  @MethodSource("io.mortise.it.scripts.LockState#withoutMyHold")
  void changesNoOtherHoldAndAnswersWhy(LockState state, long answer) {
    state.write(redis, keys);

    redis.assertEndsNothing(keys, answer, () -> redis.keep(keys, "me", 5_000));
  }
}
