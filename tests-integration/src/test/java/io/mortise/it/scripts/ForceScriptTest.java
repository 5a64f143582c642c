package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.LockScripts.Keys;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(60)
@Tag("redis-version")
class ForceScriptTest {
  @RegisterExtension static final LockScripts redis = new LockScripts();

  private final Keys keys = LockScripts.freshKeys();

  @Test
  void releasesTheLockNotifiesOnceAndLeavesAMarkForTheRestOfTheLease() {
    redis.acquire(keys, "holder", 25_000);
    redis.published();

    assertEquals(1, redis.force(keys, 30_000));

    assertEquals(List.of(keys.channel() + " 0"), redis.published());
    assertEquals(-2, redis.inspect(keys));
    assertEquals("holder", redis.jedis().get(keys.forced()));
    redis.assertTtl(keys.forced(), 25_000);
  }

  @Test
  void aHoldWithoutTtlLeavesAMarkWithTheGivenTtl() {
    redis.holdWithoutTtl(keys, "holder");

    assertEquals(1, redis.force(keys, 30_000));

    assertEquals(-2, redis.inspect(keys));
    redis.assertTtl(keys.forced(), 30_000);
  }

  @Test
  void aFreeLockHasNobodyToNotify() {
    assertEquals(0, redis.force(keys, 30_000));
    assertEquals(List.of(), redis.published());
    assertEquals(Set.of(), redis.jedis().keys("*" + keys.lock() + "*"));
  }

  @Test
  void theHolderGetsForcedAsTheAnswerOfItsRenewalAndRelease() {
    redis.acquire(keys, "holder", 25_000);
    redis.force(keys, 30_000);
    redis.acquire(keys, "next", 25_000);

    assertEquals(2, redis.renew(keys, "holder", 25_000));
    assertEquals(List.of(2L, 0L), redis.release(keys, "holder"));
    assertEquals(1, redis.renew(keys, "next", 25_000), "the mark is not for the next holder");
    assertEquals(1L, redis.release(keys, "next").get(0));
  }

  @Test
  void aRepetitionFindsNoHolder() {
    redis.acquire(keys, "holder", 25_000);
    assertEquals(1, redis.force(keys, 30_000));
    redis.published();

    assertEquals(0, redis.force(keys, 30_000));

    assertEquals(List.of(), redis.published());
    assertEquals("holder", redis.jedis().get(keys.forced()), "the mark stays");
  }

  /** The first holder asks later than the second forced release comes. */
  @Test
  void eachHolderThatWasForcedOutGetsForcedAsTheAnswer() {
    redis.acquire(keys, "first", 25_000);
    redis.force(keys, 30_000);
    redis.acquire(keys, "second", 15_000);

    assertEquals(1, redis.force(keys, 30_000));

    assertEquals("second first", redis.jedis().get(keys.forced()));
    redis.assertTtl(keys.forced(), 25_000);
    assertEquals(2, redis.renew(keys, "first", 25_000));
    assertEquals(2, redis.renew(keys, "second", 25_000));
    assertEquals(List.of(2L, 0L), redis.release(keys, "first"));
    assertEquals(List.of(2L, 0L), redis.release(keys, "second"));
    assertEquals(0, redis.renew(keys, "fir", 25_000), "part of a name is no name");
  }

  @Test
  void theMarkHasTheLastSixteen() {
    for (int i = 0; i < 20; i++) {
      redis.acquire(keys, "holder-" + i, 25_000);
      redis.force(keys, 30_000);
    }

    assertEquals(16, redis.jedis().get(keys.forced()).split(" ").length);
    assertEquals(2, redis.renew(keys, "holder-4", 25_000));
    assertEquals(0, redis.renew(keys, "holder-3", 25_000));
  }

  @Test
  void theNextTokenIsLarger() {
    long forced = (Long) redis.acquire(keys, "holder", 25_000).get(1);
    redis.force(keys, 30_000);
    assertTrue((Long) redis.acquire(keys, "next", 25_000).get(1) > forced);
  }
}
