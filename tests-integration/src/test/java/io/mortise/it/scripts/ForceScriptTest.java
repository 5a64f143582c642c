package io.mortise.it.scripts;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.ScriptServer.Keys;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import redis.clients.jedis.exceptions.JedisDataException;

@Timeout(60)
@Tag("redis-version")
class ForceScriptTest {
  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final Keys keys = ScriptServer.fresh();

  @Test
  void takesTheLockWakesOnceAndLeavesAMarkForAsLongAsTheLeaseWasToLast() {
    redis.acquire(keys, "holder", 25_000);
    redis.heard();

    assertEquals(1, redis.force(keys, 30_000));

    assertEquals(List.of(keys.channel() + " 0"), redis.heard());
    assertEquals(-2, redis.inspect(keys));
    assertEquals("holder", redis.jedis().get(keys.forced()));
    redis.assertTtl(keys.forced(), 25_000);
  }

  @Test
  void aHoldWithoutTtlLeavesAMarkOfTheGivenLife() {
    redis.holdForEver(keys, "holder");

    assertEquals(1, redis.force(keys, 30_000));

    assertEquals(-2, redis.inspect(keys));
    redis.assertTtl(keys.forced(), 30_000);
  }

  @Test
  void nobodyHoldingIsNobodyToTellOrToWake() {
    assertEquals(0, redis.force(keys, 30_000));
    assertEquals(List.of(), redis.heard());
    assertEquals(Set.of(), redis.jedis().keys("*" + keys.lock() + "*"));
  }

  @Test // pitfall 13
  void theHolderLearnsThatItWasForcedAtItsRenewalAndAtItsRelease() {
    redis.acquire(keys, "holder", 25_000);
    redis.force(keys, 30_000);
    redis.acquire(keys, "next", 25_000);

    assertEquals(2, redis.renew(keys, "holder", 25_000));
    assertEquals(List.of(2L, 0L), redis.release(keys, "holder"));
    assertEquals(1, redis.renew(keys, "next", 25_000), "the mark is not the next holder's");
    assertEquals(1L, redis.release(keys, "next").get(0));
  }

  @Test
  void aRepetitionFindsNobody() {
    redis.acquire(keys, "holder", 25_000);
    assertEquals(1, redis.force(keys, 30_000));
    redis.heard();

    assertEquals(0, redis.force(keys, 30_000));

    assertEquals(List.of(), redis.heard());
    assertEquals("holder", redis.jedis().get(keys.forced()), "the mark stays");
  }

  @Test
  void theNextTokenIsLarger() {
    long forced = (Long) redis.acquire(keys, "holder", 25_000).get(1);
    redis.force(keys, 30_000);
    assertTrue((Long) redis.acquire(keys, "next", 25_000).get(1) > forced);
  }

  @Test // pitfall 20
  void aReadWriteLockIsNotForcedAsAPlainOne() {
    redis.holdForReading(keys, "reader:1");

    JedisDataException refusal =
        assertThrows(JedisDataException.class, () -> redis.force(keys, 30_000));

    assertTrue(refusal.getMessage().startsWith("LOCKTYPE "), refusal.getMessage());
    assertEquals(Map.of("mode", "read", "reader:1", "1"), redis.jedis().hgetAll(keys.lock()));
  }

  @Test
  void aStringInTheWayIsAnErrorAndStays() {
    redis.putStringInTheWay(keys);
    assertThrows(JedisDataException.class, () -> redis.force(keys, 30_000));
    assertEquals("a string", redis.jedis().get(keys.lock()));
  }
}
