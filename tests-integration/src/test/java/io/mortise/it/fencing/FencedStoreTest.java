package io.mortise.it.fencing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.fencing.FencedStore;
import io.mortise.fencing.StaleTokenException;
import io.mortise.it.support.Names;
import io.mortise.it.support.SharedRedis;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.RedisClient;
import redis.clients.jedis.exceptions.JedisDataException;

@Timeout(60)
@Tag("redis-version")
class FencedStoreTest {
  @RegisterExtension static final SharedRedis redis = new SharedRedis();

  @AutoClose private final RedisClient jedis = RedisClient.create(redis.uri());
  private final String key = Names.fresh();
  private final FencedStore store = new FencedStore(jedis, key);

  @Test
  void aLateWriterIsRefusedAndNothingIsWritten() {
    try (LockClient client = redis.client()) {
      DistributedLock lock = new RedisLock(client, "lock of " + key);
      Lease late = lock.withLease(Duration.ofMinutes(1)).tryAcquire().orElseThrow();
      assertTrue(lock.forceUnlock());
      try (Lease next = lock.tryAcquire().orElseThrow()) {
        assertEquals("OK", store.execute(next, Command.SET, key, "next"));
        var thrown =
            assertThrows(
                StaleTokenException.class, () -> store.execute(late, Command.SET, key, "late"));
        assertEquals(key, thrown.resource());
        assertEquals(late.fencingToken(), thrown.token());
        assertEquals(next.fencingToken(), thrown.lastToken());
        assertTrue(thrown.getMessage().contains("'" + key + "'"), thrown.getMessage());
        assertThrows(
            StaleTokenException.class,
            () -> store.eval(late, "return redis.call('DEL', KEYS[1])", List.of(key), List.of()));
        assertEquals("next", jedis.get(key));
      }
    }
  }

  @Test
  void oneHolderMayWriteSeveralTimes() {
    assertEquals(OptionalLong.empty(), store.lastToken());
    for (int i = 1; i <= 3; i++) {
      assertEquals((long) i, store.execute(7, Command.INCR, key));
    }
    assertEquals(OptionalLong.of(7), store.lastToken());
    assertEquals(-1, jedis.ttl("mortise_fence:{" + key + "}"), "the fence does not expire");
  }

  @Test
  void aCommandHasALimitAndAScriptHasNone() {
    String[] members =
        IntStream.range(0, 10_000).mapToObj(Integer::toString).toArray(String[]::new);
    var refused =
        assertThrows(
            IllegalArgumentException.class, () -> store.execute(1, Command.SADD, key, members));
    assertTrue(refused.getMessage().contains("7000"), refused.getMessage());
    assertEquals(OptionalLong.empty(), store.lastToken());
    assertEquals(6_998L, store.execute(1, Command.SADD, key, Arrays.copyOf(members, 6_998)));
    assertEquals(10_000L, store.eval(1, "return #ARGV", List.of(key), List.of(members)));
  }

  @Test
  void tokensUpToTheLargestPossibleAreStoredExactly() {
    long largest = (1L << 53) - 1;
    store.execute(largest, Command.SET, key, "a");
    store.execute(largest, Command.SET, key, "b");
    assertThrows(
        StaleTokenException.class, () -> store.execute(largest - 1, Command.SET, key, "c"));
    assertEquals(OptionalLong.of(largest), store.lastToken());
    assertEquals("b", jedis.get(key));
  }

  /** Redis would take the smaller one for equal. */
  @Test
  void tokensThatRedisCannotCompareAreRefused() {
    for (long token : new long[] {1L << 53, Long.MAX_VALUE - 1, Long.MAX_VALUE}) {
      var refused =
          assertThrows(
              IllegalArgumentException.class, () -> store.execute(token, Command.SET, key, "x"));
      assertTrue(refused.getMessage().contains("less than 2^53"), refused.getMessage());
      assertThrows(
          IllegalArgumentException.class,
          () -> store.eval(token, "return 1", List.of(key), List.of()));
    }
    assertEquals(OptionalLong.empty(), store.lastToken());
    assertFalse(jedis.exists(key));
  }

  @Test
  void tokensAreComparedAsNumbers() {
    store.execute(9, Command.SET, key, "a");
    store.execute(10, Command.SET, key, "b");
    assertThrows(StaleTokenException.class, () -> store.execute(9, Command.SET, key, "c"));
    assertEquals("b", jedis.get(key));
  }

  @Test
  void aScriptGetsItsKeysAndArgumentsAndMayReturnAnyType() {
    assertEquals(
        List.of("x", "y", 2L),
        store.eval(1, "return {ARGV[1], ARGV[2], #ARGV} -- all", List.of(key), List.of("x", "y")));
    assertEquals(1L, store.eval(1, "return #KEYS", List.of(key), List.of()));
    assertNull(store.eval(1, "local nothing = KEYS[1]", List.of(key), List.of()));
    assertNull(store.execute(1, Command.GET, key));
    assertEquals("OK", store.eval(1, "return {ok='OK'}", List.of(key), List.of()));
    assertEquals(List.of(), store.eval(1, "return {}", List.of(key), List.of()));
  }

  @Test
  void anErrorOfTheCommandIsThrownAndTheFenceStays() {
    jedis.set(key, "not a number");
    assertThrows(JedisDataException.class, () -> store.execute(5, Command.INCR, key));
    assertThrows(
        JedisDataException.class,
        () -> store.eval(5, "return redis.error_reply('MINE no')", List.of(key), List.of()));
    assertThrows(
        JedisDataException.class, () -> store.eval(5, "syntax error", List.of(key), List.of()));
    assertThrows(StaleTokenException.class, () -> store.execute(4, Command.SET, key, "x"));
  }

  /** Taken for 0, such a value would let the latest writer in. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "seventeen",
        "17 ",
        "-17",
        "1e3",
        "0x11",
        "nan",
        "9007199254740992",
        "99999999999999999"
      })
  void aFenceThatIsNoTokenIsRefusedAndStays(String value) {
    String fence = "mortise_fence:{" + key + "}";
    jedis.set(fence, value);

    for (Executable use :
        List.<Executable>of(
            () -> store.execute(5, Command.SET, key, "x"),
            () -> store.eval(5, "return redis.call('SET', KEYS[1], 'x')", List.of(key), List.of()),
            store::lastToken)) {
      String message = assertThrows(JedisDataException.class, use).getMessage();
      assertEquals(
          "FENCETYPE the value of '%s' is no fencing token; use another resource name, or set it to the last token"
              .formatted(fence),
          message);
    }
    assertEquals(value, jedis.get(fence));
    assertFalse(jedis.exists(key));
  }

  @Test
  void aFenceWithAnIdleLifeExpiresAndEachWriteRenewsIt() {
    FencedStore expiring = new FencedStore(jedis, key, Duration.ofSeconds(100));
    String fence = "mortise_fence:{" + key + "}";
    expiring.execute(9, Command.SET, key, "a");
    jedis.pexpire(fence, 5_000);
    expiring.execute(9, Command.SET, key, "b");
    assertTrue(jedis.pttl(fence) > 50_000);
    jedis.del(fence);
    assertEquals("OK", expiring.execute(3, Command.SET, key, "c"));
  }

  /** Otherwise the token of the others would be forgotten too early. */
  @Test
  void aStoreWithAShorterRetentionDoesNotShortenThatOfAnother() {
    String fence = "mortise_fence:{" + key + "}";
    FencedStore shorter = new FencedStore(jedis, key, Duration.ofSeconds(100));
    FencedStore longer = new FencedStore(jedis, key, Duration.ofDays(365));

    longer.execute(1, Command.SET, key, "a");
    shorter.execute(2, Command.SET, key, "b");
    assertTrue(jedis.pttl(fence) > Duration.ofDays(364).toMillis());
    assertEquals("2", jedis.get(fence));

    store.execute(3, Command.SET, key, "c");
    assertEquals(-1, jedis.pttl(fence));
    shorter.eval(4, "return 1", List.of(key), List.of());
    assertEquals(-1, jedis.pttl(fence));
    assertEquals("4", jedis.get(fence));
  }

  @Test
  void aWriteSucceedsAfterAScriptFlush() {
    store.execute(1, Command.SET, key, "a");
    jedis.scriptFlush();
    assertEquals("OK", store.execute(2, Command.SET, key, "b"));
  }

  /** As for locks: the fence and what is written have to be in one slot of a cluster. */
  @Test
  void aBraceInTheNameMakesAHashTagOrIsRefused() {
    for (String resource : List.of("a{b", "a{}b", "a{}{b}")) {
      assertThrows(
          IllegalArgumentException.class, () -> new FencedStore(jedis, resource), resource);
    }
    new FencedStore(jedis, "a}" + key).execute(1, Command.SET, key, "x");
    new FencedStore(jedis, "{" + key + "}:b").execute(1, Command.SET, key, "x");
    assertTrue(jedis.exists("mortise_fence:{a}" + key + "}"));
    assertTrue(jedis.exists("mortise_fence:{" + key + "}:b"));
  }

  @Test
  void badInputIsRefusedBeforeAnythingIsSent() {
    assertThrows(IllegalArgumentException.class, () -> new FencedStore(jedis, " "));
    assertThrows(
        IllegalArgumentException.class, () -> new FencedStore(jedis, key, Duration.ofMillis(999)));
    assertThrows(IllegalArgumentException.class, () -> store.execute(0, Command.SET, key, "x"));
    assertThrows(
        IllegalArgumentException.class,
        () -> store.eval(1, "#!lua flags=no-writes\nreturn 1", List.of(key), List.of()));
    assertFalse(jedis.exists(key));
  }
}
