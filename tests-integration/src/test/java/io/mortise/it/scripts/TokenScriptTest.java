package io.mortise.it.scripts;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.LockScripts.Keys;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The fencing token of an acquisition. */
@Timeout(60)
@Tag("redis-version")
class TokenScriptTest {
  private static final long TOO_LARGE = 1L << 53;

  @RegisterExtension static final LockScripts redis = new LockScripts();

  private final Keys keys = LockScripts.freshKeys();

  private long token() {
    return token(1);
  }

  private long token(long count) {
    long token = (Long) redis.acquire(keys, "me", 20_000, 600_000, count).get(1);
    redis.release(keys, "me");
    return token;
  }

  @Test
  void increasesFromEachAcquisitionToTheNext() {
    long last = 0;
    for (int i = 0; i < 200; i++) {
      long token = token();
      assertTrue(token > last, last + " is followed by " + token);
      last = token;
    }
  }

  @Test
  void isTheServersTimeInMicrosecondsWhenNoLargerTokenIsKnown() {
    long before = redis.micros();
    long token = token();
    assertTrue(before <= token && token <= redis.micros(), () -> "token " + token);
  }

  @Test
  void increasesWhenTheKeyWasLost() {
    long first = token();
    redis.jedis().del(keys.token());
    assertTrue(token() > first);
  }

  @Test
  void followsALastTokenThatIsAheadOfTheClock() {
    long ahead = redis.micros() + 3_600_000_000L;
    redis.jedis().set(keys.token(), Long.toString(ahead));

    assertEquals(ahead + 1, token());
    assertEquals(ahead + 2, token());
    assertEquals(Long.toString(ahead + 2), redis.jedis().get(keys.token()));
  }

  @Test
  void followsTheSmallCountOfAFencedLockOfRedisson() {
    redis.jedis().set(keys.token(), "41");
    long token = token();
    assertTrue(token > 41);
    assertEquals(token + 1, redis.jedis().incr(keys.token()), "which goes on from ours");
  }

  @Test
  void aBlockIsReservedWhole() {
    long ahead = redis.micros() + 3_600_000_000L;
    redis.jedis().set(keys.token(), Long.toString(ahead));

    assertEquals(ahead + 1, token(100));
    assertEquals(ahead + 101, token(1));
  }

  @Test
  void aBlockIsReservedWholeAlsoFromTheClock() {
    long first = token(50_000_000); // 50 s of microseconds: the clock does not overtake it
    assertEquals(first + 50_000_000, token());
  }

  @Test
  void staysAWholeNumberBelowTwoToThe53() {
    long token = token();
    assertTrue(token < TOO_LARGE);
    assertEquals(Long.toString(token), redis.jedis().get(keys.token()), "no exponent, no fraction");

    redis.jedis().set(keys.token(), Long.toString(TOO_LARGE - 3));
    assertEquals(TOO_LARGE - 2, token());
    assertEquals(Long.toString(TOO_LARGE - 2), redis.jedis().get(keys.token()));
  }

  @Test
  void theKeyExpiresAfterItsRetentionAndEachAcquisitionExtendsIt() {
    redis.acquire(keys, "me", 20_000, 30_000, 1);
    redis.assertTtl(keys.token(), 30_000);

    redis.acquire(keys, "me", 20_000, 60_000, 1);
    redis.assertTtl(keys.token(), 60_000);
  }

  /** Otherwise the next token, by the clock alone, would be smaller than an earlier one. */
  @Test
  void theKeyLivesForAsLongAsItsTokenIsAheadOfTheClock() {
    redis.acquire(keys, "me", 20_000, 30_000, 100_000_000); // 100 s of microseconds
    redis.assertTtl(keys.token(), 130_000);

    redis.acquire(keys, "me", 20_000, 30_000, 1);
    redis.assertTtl(keys.token(), 130_000);

    redis.raise(keys, "me", Long.toString(redis.micros() + 3_600_000_000L), 60_000);
    redis.assertTtl(keys.token(), 3_660_000);
  }

  @Test
  void noTokenIsSmallerThanAnEarlierOneAfterTheKeyHasExpired() {
    long block = 2_000_000; // 2 s of microseconds
    long last = (Long) redis.acquire(keys, "me", 20_000, 100, block).get(1) + block - 1;
    redis.release(keys, "me");
    await().until(() -> !redis.jedis().exists(keys.token()));

    long next = token();

    assertTrue(next > last, () -> last + " is followed by " + next);
  }

  /** The token of several locks follows the largest of theirs, and is stored for each. */
  @Test
  void eachKeyOfSeveralLocksLivesAsLongAsTheirTokenIsAhead() {
    Keys other = LockScripts.freshKeys();
    redis.put(other.token(), Long.toString(redis.micros() + 100_000_000), 5_000);

    redis.acquireAll(List.of(keys, other), "me", 20_000);

    redis.assertTtl(keys.token(), 700_000);
    redis.assertTtl(other.token(), 700_000);
  }

  /** RFencedLock of Redisson makes it so, and never gives it a TTL. */
  @Test
  void aKeyWithoutATtlGetsNone() {
    redis.jedis().incr(keys.token());

    redis.acquire(keys, "me", 20_000, 30_000, 1);
    assertEquals(-1, redis.jedis().pttl(keys.token()));
    redis.raise(keys, "me", Long.toString(redis.micros() + 1_000_000), 60_000);
    assertEquals(-1, redis.jedis().pttl(keys.token()));
    redis.acquireAll(List.of(keys), "me", 20_000);
    assertEquals(-1, redis.jedis().pttl(keys.token()));
  }
}
