package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.mortise.it.scripts.LockScripts.Keys;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Several releases in one script: each has its own answer, as if it were alone. */
@Timeout(60)
@Tag("redis-version")
class ReleaseAllScriptTest {
  private static final String WAITER = "11111111-0000-8000-8000-111111111111:1";
  private static final String HOLDER = "22222222-0000-8000-8000-222222222222:1";

  @RegisterExtension static final LockScripts redis = new LockScripts();

  private final List<Keys> locks = Stream.generate(LockScripts::freshKeys).limit(3).toList();

  private Map<String, String> held(int lock) {
    return redis.jedis().hgetAll(locks.get(lock).lock());
  }

  private String channel(int lock) {
    return locks.get(lock).channel() + " 0";
  }

  @Test
  void releasesEachAndPublishesOnceOnEachChannel() {
    locks.forEach(keys -> redis.acquire(keys, "me", 20_000));
    redis.published();

    assertEquals(
        List.of(List.of(1L, 1L), List.of(1L, 1L), List.of(1L, 1L)),
        redis.releaseAll(locks, "me", "me", "me"));

    assertEquals(IntStream.range(0, 3).mapToObj(this::channel).toList(), redis.published());
    assertEquals(List.of(Map.of(), Map.of(), Map.of()), List.of(held(0), held(1), held(2)));
  }

  @ParameterizedTest
  @MethodSource("io.mortise.it.scripts.LockState#withoutMyHold")
  void oneWithoutAHoldIsAnsweredAsAloneAndTheOthersAreReleased(LockState state, long answer) {
    redis.acquire(locks.get(0), "me", 20_000);
    redis.acquire(locks.get(2), "me", 20_000);
    state.write(redis, locks.get(1));
    Map<String, String> before = held(1);
    redis.published();

    assertEquals(
        List.of(List.of(1L, 1L), List.of(answer, 0L), List.of(1L, 1L)),
        redis.releaseAll(locks, "me", "me", "me"));

    assertEquals(List.of(channel(0), channel(2)), redis.published());
    assertEquals(List.of(Map.of(), before, Map.of()), List.of(held(0), held(1), held(2)));
  }

  @Test
  void theFirstWaiterOfEachIsNotified() {
    for (Keys keys : locks.subList(0, 2)) {
      redis.acquire(keys, HOLDER, 20_000);
    }
    redis.await(locks.get(1), WAITER, 20_000);

    List<?> answers = redis.releaseAll(locks, HOLDER, HOLDER);

    assertEquals(2, ((List<?>) answers.get(0)).size());
    assertEquals(1L, ((List<?>) answers.get(1)).get(0));
    assertEquals(1L, ((List<?>) answers.get(1)).get(2), "a waiter was notified");
  }

  @Test
  void oneThatWaitsLeaves() {
    redis.acquire(locks.get(0), HOLDER, 20_000);
    redis.await(locks.get(0), WAITER, 20_000);

    assertEquals(List.of(List.of(3L, 0L)), redis.releaseAll(locks, WAITER));

    assertEquals(Map.of(HOLDER, "1"), held(0));
    assertEquals(0, redis.jedis().zcard(locks.get(0).waiters()));
  }

  @Test
  void aKeyOfAnotherTypeRefusesAllAndReleasesNone() {
    locks.forEach(keys -> redis.acquire(keys, "me", 20_000));
    redis.jedis().set(locks.get(2).waiters(), "foreign");
    redis.published();

    LockScripts.assertRefused("WRONGTYPE", () -> redis.releaseAll(locks, "me", "me", "me"));

    Map<String, String> mine = Map.of("me", "1");
    assertEquals(List.of(mine, mine, mine), List.of(held(0), held(1), held(2)));
    assertEquals(List.of(), redis.published());
  }

  @Test
  void aRepetitionReleasesNoNewerHolds() {
    locks.forEach(keys -> redis.acquire(keys, "client:1", 20_000));
    redis.releaseAll(locks, "client:1", "client:1");
    redis.acquire(locks.get(0), "client:2", 20_000);
    redis.published();

    assertEquals(
        List.of(List.of(0L, 0L), List.of(0L, 0L), List.of(1L, 1L)),
        redis.releaseAll(locks, "client:1", "client:1", "client:1"));

    assertEquals(Map.of("client:2", "1"), held(0));
    assertEquals(List.of(channel(2)), redis.published());
  }
}
