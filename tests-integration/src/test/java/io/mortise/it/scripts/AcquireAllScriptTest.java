package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.LockScripts.Keys;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Several locks in one script: all or none, with one fencing token. */
@Timeout(60)
@Tag("redis-version")
class AcquireAllScriptTest {
  private static final long HOUR_MICROS = 3_600_000_000L;

  @RegisterExtension static final LockScripts redis = new LockScripts();

  private static List<Keys> locks(int count) {
    return Stream.generate(LockScripts::freshKeys).limit(count).toList();
  }

  /**
   * The values of all keys, and whether they have a TTL; equal when nothing was written in between.
   */
  private static List<String> dump(List<Keys> locks) {
    List<String> all = new ArrayList<>();
    for (Keys keys : locks) {
      for (String key : List.of(keys.lock(), keys.token(), keys.forced())) {
        byte[] value = redis.jedis().dump(key);
        String ends = redis.jedis().pttl(key) < 0 ? "without a TTL" : "with a TTL";
        all.add(key + " " + Arrays.toString(value) + " " + ends);
      }
    }
    return all;
  }

  private static void assertHeld(Keys keys, String holder, long token) {
    assertEquals(Map.of(holder, "1"), redis.jedis().hgetAll(keys.lock()));
    assertEquals(Long.toString(token), redis.jedis().get(keys.token()));
  }

  @ParameterizedTest(name = "{0} locks")
  @ValueSource(ints = {1, 2, 7, 500})
  void freeLocksAreGrantedWithOneTokenAndTheLeaseAsTtl(int count) {
    List<Keys> locks = locks(count);
    long before = redis.micros();

    List<?> answer = redis.acquireAll(locks, "me", 20_000);

    assertEquals(1L, answer.get(0));
    long token = (Long) answer.get(1);
    assertTrue(before <= token && token <= redis.micros(), () -> "token " + token);
    for (Keys keys : locks) {
      assertHeld(keys, "me", token);
      redis.assertTtl(keys.lock(), 20_000);
      redis.assertTtl(keys.token(), 600_000);
    }
    assertEquals(List.of(), redis.published(), "an acquisition notifies nobody");
  }

  @ParameterizedTest(name = "{0} of 5")
  @CsvSource({"1, 40000", "3, 40000", "5, 40000", "3, -1"})
  void aBusyLockIsNamedWithItsRemainingLeaseAndNothingIsWritten(int busy, long ttl) {
    List<Keys> locks = locks(5);
    for (int i = busy - 1; i < 5; i += 2) { // the first of them is named
      redis.holdWithoutTtl(locks.get(i), "other");
      if (ttl > 0) {
        redis.jedis().pexpire(locks.get(i).lock(), ttl);
      }
    }
    redis.jedis().set(locks.get(1).token(), "7");
    List<String> before = dump(locks);

    List<?> answer = redis.acquireAll(locks, "me", 20_000);

    assertEquals(List.of(0L, (long) busy), answer.subList(0, 2));
    long left = (Long) answer.get(2);
    assertTrue(left <= ttl && left > ttl - 5_000, () -> left + " ms are left");
    assertEquals(before, dump(locks));
  }

  @Test
  void oneTokenIsLargerThanAllAndStoredForEachLock() {
    List<Keys> locks = locks(4);
    long ahead = redis.micros() + HOUR_MICROS;
    redis.jedis().set(locks.get(0).token(), Long.toString(ahead));
    redis.jedis().set(locks.get(1).token(), "41");
    redis.jedis().set(locks.get(2).token(), Long.toString(ahead + HOUR_MICROS));

    List<?> answer = redis.acquireAll(locks, "me", 20_000);

    assertEquals(List.of(1L, ahead + HOUR_MICROS + 1, ahead + HOUR_MICROS), answer);
    for (Keys keys : locks) {
      assertHeld(keys, "me", ahead + HOUR_MICROS + 1);
      assertEquals(1L, redis.release(keys, "me").get(0));
      assertEquals(ahead + HOUR_MICROS + 2, redis.acquire(keys, "next", 20_000).get(1));
    }
  }

  @Test
  void aRepetitionIsGrantedTheSameHoldsWithALargerToken() {
    List<Keys> locks = locks(3);
    long first = (Long) redis.acquireAll(locks, "me", 30_000).get(1);

    List<?> second = redis.acquireAll(locks, "me", 20_000);

    assertEquals(1L, second.get(0));
    assertTrue((Long) second.get(1) > first);
    for (Keys keys : locks) {
      assertHeld(keys, "me", (Long) second.get(1));
      redis.assertTtl(keys.lock(), 30_000); // never shortened
      assertEquals(1L, redis.release(keys, "me").get(0), "one release is enough");
      assertEquals(-2, redis.inspect(keys));
    }
  }

  @Test
  void aRepetitionGivesNoTtlToAHoldWithoutOne() {
    List<Keys> locks = locks(2);
    redis.holdWithoutTtl(locks.get(0), "me");

    assertEquals(1L, redis.acquireAll(locks, "me", 20_000).get(0));

    assertEquals(-1, redis.inspect(locks.get(0)));
    redis.assertTtl(locks.get(1).lock(), 20_000);
  }

  @Test
  void aHolderOfSomeOfThemIsGrantedTheOthers() {
    List<Keys> locks = locks(3);
    redis.hold(locks.get(1), "me", 5_000);

    long token = (Long) redis.acquireAll(locks, "me", 20_000).get(1);

    for (Keys keys : locks) {
      assertHeld(keys, "me", token);
      redis.assertTtl(keys.lock(), 20_000);
    }
  }

  @ParameterizedTest
  @CsvSource({"READ_WRITE_LOCK, LOCKTYPE", "STRING, WRONGTYPE", "TOKEN_OF_ANOTHER_TYPE, WRONGTYPE"})
  void aKeyOfAnotherTypeAmongThemLeavesNothing(LockState obstacle, String error) {
    for (int at : List.of(0, 1, 2)) {
      List<Keys> locks = locks(3);
      obstacle.write(redis, locks.get(at));
      List<String> before = dump(locks);

      LockScripts.assertRefused(error, () -> redis.acquireAll(locks, "me", 20_000));
      assertEquals(before, dump(locks), "at " + at);
    }
  }
}
