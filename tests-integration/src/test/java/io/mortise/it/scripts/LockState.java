package io.mortise.it.scripts;

import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.mortise.it.scripts.LockScripts.Keys;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.Arguments;

/** A state in which a script of the plain lock, called by the holder "me", may find the lock. */
enum LockState {
  FREE((redis, keys) -> {}),
  MY_HOLD((redis, keys) -> redis.hold(keys, "me", 5_000)),
  MY_LONG_HOLD((redis, keys) -> redis.hold(keys, "me", 50_000)),
  MY_HOLD_WITHOUT_TTL((redis, keys) -> redis.holdWithoutTtl(keys, "me")),
  OTHER_HOLDER((redis, keys) -> redis.hold(keys, "other", 40_000)),
  OTHER_HOLDER_WITHOUT_TTL((redis, keys) -> redis.holdWithoutTtl(keys, "other")),
  REENTERED_BY_REDISSON(
      (redis, keys) -> {
        redis.jedis().hset(keys.lock(), "8743c9c0-0795-4907-87fd-6c719a6b4586:1", "3");
        redis.jedis().pexpire(keys.lock(), 30_000);
      }),
  READ_WRITE_LOCK(
      (redis, keys) -> {
        redis.jedis().hset(keys.lock(), Map.of("mode", "read", "reader:1", "1"));
        redis.jedis().pexpire(keys.lock(), 30_000);
      }),
  STRING((redis, keys) -> redis.jedis().set(keys.lock(), "a string")),
  FORCED_FROM_ME((redis, keys) -> redis.jedis().set(keys.forced(), "me")),
  FORCED_FROM_ANOTHER((redis, keys) -> redis.jedis().set(keys.forced(), "other")),
  FORCED_FROM_ME_AND_TAKEN(
      (redis, keys) -> {
        redis.jedis().set(keys.forced(), "me");
        redis.hold(keys, "other", 40_000);
      }),
  TOKEN((redis, keys) -> redis.put(keys.token(), "7", 5_000)),
  TOKEN_OF_ANOTHER_TYPE((redis, keys) -> redis.jedis().lpush(keys.token(), "x"));

  @SuppressWarnings("ImmutableEnumChecker") // lambdas without state
  private final BiConsumer<LockScripts, Keys> writes;

  LockState(BiConsumer<LockScripts, Keys> writes) {
    this.writes = writes;
  }

  /**
   * Returns the states in which there is no hold to end for the holder "me", each with the answer
   * to a script that should end it: 2 if the hold was taken by force.
   */
  static Stream<Arguments> withoutMyHold() {
    return Stream.of(
        arguments(FREE, 0L),
        arguments(OTHER_HOLDER, 0L),
        arguments(OTHER_HOLDER_WITHOUT_TTL, 0L),
        arguments(READ_WRITE_LOCK, 0L),
        arguments(FORCED_FROM_ANOTHER, 0L),
        arguments(FORCED_FROM_ME, 2L),
        arguments(FORCED_FROM_ME_AND_TAKEN, 2L));
  }

  void write(LockScripts redis, Keys keys) {
    writes.accept(redis, keys);
  }
}
