package io.mortise.it.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.LockScripts.Keys;
import io.mortise.it.support.ScriptServer;
import io.mortise.scripts.Script;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/** Properties of every script: its SHA-1, its keys, and how it fails. */
@Timeout(60)
@Tag("redis-version")
class ScriptMannersTest {
  @RegisterExtension static final LockScripts redis = new LockScripts();

  private final Keys keys = LockScripts.freshKeys();
  private final List<String> lockAndToken = List.of(keys.lock(), keys.token());
  private final List<String> ofAcquire = keys.ofAcquire();
  private final List<String> ofRelease = keys.ofRelease();
  private Jedis confined;

  /** A user with rights to the keys and the channel of this one lock only. */
  @BeforeEach
  void confine() {
    redis
        .jedis()
        .aclSetUser(
            "confined",
            "reset",
            "on",
            "nopass",
            "+@all",
            "~" + keys.lock(),
            "~" + keys.token(),
            "~" + keys.forced(),
            "~" + keys.channel(),
            "~" + keys.waiters(),
            "resetchannels",
            "&" + keys.channel());
    confined = new Jedis(redis.server().host(), redis.server().port());
    confined.auth("confined", "any");
  }

  @AfterEach
  void close() {
    confined.close();
  }

  private Object run(String path, List<String> keys, Object... arguments) {
    return ScriptServer.run(confined, path, keys, arguments);
  }

  private Object acquireWith(Keys second) {
    return run(
        "lock/acquire_all",
        List.of(keys.lock(), keys.token(), second.lock(), second.token()),
        "me",
        20_000,
        60_000,
        "me",
        20_000,
        60_000);
  }

  @Test
  void scriptsUseOnlyTheDeclaredKeys() {
    assertThrows(JedisAccessControlException.class, () -> confined.get("another key"));
    List<String> lockChannelAndWaiters = List.of(keys.lock(), keys.channel(), keys.waiters());
    List<String> lockAndMark = List.of(keys.lock(), keys.forced());
    run("lock/acquire", ofAcquire, "me", 20_000, 60_000, 1, 1);
    run("lock/renew", lockAndMark, "me", 20_000);
    run("lock/acquire", ofAcquire, "waits", 20_000, 60_000, 1, 1);
    run("lock/release", ofRelease, "waits", "PUBLISH");
    run("lock/notify", lockChannelAndWaiters, "PUBLISH");
    run("lock/inspect", List.of(keys.lock()));
    run("lock/force", ofRelease, "PUBLISH", 30_000);
    assertEquals(List.of(2L), run("lock/renew", lockAndMark, "me", 20_000));
    run("lock/acquire", ofAcquire, "next", 20_000, 60_000, 1, 1);
    assertEquals(1L, run("lock/raise", lockAndToken, "next", 42, 60_000));
    run("lock/release", ofRelease, "next", "PUBLISH");
    run("lock/acquire_all", lockAndToken, "last", 20_000, 60_000);
    run("lock/keep", ofRelease, "last", "PUBLISH", 20_000);
    run("lock/force", ofRelease, "PUBLISH", 30_000);

    assertEquals(
        Set.of(keys.token(), keys.forced()),
        redis.jedis().keys("*" + keys.lock() + "*"),
        "they leave nothing else");
    assertTrue(redis.jedis().pttl(keys.token()) > 0);
    assertTrue(redis.jedis().pttl(keys.forced()) > 0);
  }

  @Test
  void aUserWithoutTheRightToPublishCanStillRelease() {
    redis.jedis().aclSetUser("confined", "-publish");
    redis.acquire(keys, "me", 20_000);

    assertEquals(List.of(1L, -1L), run("lock/release", ofRelease, "me", "PUBLISH"));
    assertEquals(-2, redis.inspect(keys));
  }

  @Test
  void aUserWithoutTheRightToSetATtlLeavesNoHoldWithoutOne() {
    redis.jedis().aclSetUser("confined", "-pexpire");

    assertThrows(
        JedisDataException.class, () -> run("lock/acquire", ofAcquire, "me", 20_000, 60_000, 1, 1));

    assertEquals(-2, redis.inspect(keys));
  }

  @ParameterizedTest(name = "forbidden: {0}")
  @ValueSource(strings = {"-pexpire", "-hset"})
  void aUserWithoutARightThatSeveralLocksNeedHoldsNone(String forbidden) {
    Keys second = LockScripts.freshKeys();
    redis
        .jedis()
        .aclSetUser("confined", forbidden, "+hdel", "~" + second.lock(), "~" + second.token());

    assertThrows(JedisDataException.class, () -> acquireWith(second));

    assertEquals(-2, redis.inspect(keys));
    assertEquals(-2, redis.inspect(second));
  }

  @Test
  void aUserWithoutRightsToTheSecondOfSeveralLocksHoldsNone() {
    Keys second = LockScripts.freshKeys();

    assertThrows(JedisDataException.class, () -> acquireWith(second));

    assertEquals(Set.of(), redis.jedis().keys("*" + keys.lock() + "*"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "lock/acquire",
        "lock/acquire_all",
        "lock/raise",
        "lock/release",
        "lock/notify",
        "lock/keep",
        "lock/renew",
        "lock/force",
        "lock/inspect"
      })
  void theSha1IsTheOneThatTheServerComputes(String path) {
    Script script = Script.load(path);
    String sha1 = new String(script.sha1(), UTF_8);
    redis.jedis().scriptFlush();
    assertThrows(JedisNoScriptException.class, () -> redis.jedis().evalsha(sha1));

    assertEquals(sha1, redis.jedis().scriptLoad(new String(script.text(), UTF_8)));
    assertTrue(redis.jedis().scriptExists(sha1));
  }

  @Test
  void scriptsAreFoundByTheirSha1AfterOneEval() {
    redis.acquire(keys, "me", 20_000);
    Object answer =
        redis
            .jedis()
            .evalsha(
                new String(Script.load("lock/acquire").sha1(), UTF_8),
                keys.ofAcquire(),
                List.of("other", "20000", "60000", "1", "0"));
    assertEquals(0L, ((List<?>) answer).get(0));
  }

  @ParameterizedTest
  @CsvSource({
    "acquire, STRING, WRONGTYPE",
    "release, STRING, WRONGTYPE",
    "keep, STRING, WRONGTYPE",
    "raise, STRING, WRONGTYPE",
    "force, STRING, WRONGTYPE",
    "inspect, STRING, WRONGTYPE",
    "acquire, READ_WRITE_LOCK, LOCKTYPE",
    "force, READ_WRITE_LOCK, LOCKTYPE",
    "inspect, READ_WRITE_LOCK, LOCKTYPE"
  })
  void aKeyOfAnotherTypeIsAnErrorAndStays(String script, LockState state, String error) {
    state.write(redis, keys);
    byte[] before = redis.jedis().dump(keys.lock());
    LockScripts.assertRefused(
        error,
        () -> {
          switch (script) {
            case "acquire" -> redis.acquire(keys, "me", 20_000);
            case "release" -> redis.release(keys, "me");
            case "keep" -> redis.keep(keys, "me", 20_000);
            case "raise" -> redis.raise(keys, "me", "42", 60_000);
            case "force" -> redis.force(keys, 30_000);
            default -> redis.inspect(keys);
          }
        });
    assertArrayEquals(before, redis.jedis().dump(keys.lock()));
    assertEquals(Set.of(keys.lock()), redis.jedis().keys("*" + keys.lock() + "*"));
  }

  @Test
  void aReplicaRefusesToAcquireAndNothingIsWritten() {
    redis.jedis().replicaof(redis.server().host(), 1);
    try {
      JedisDataException refusal =
          assertThrows(JedisDataException.class, () -> redis.acquire(keys, "me", 20_000));
      assertTrue(refusal.getMessage().contains("READONLY"), refusal.getMessage());
      assertEquals(-2, redis.inspect(keys), "a question is allowed");
    } finally {
      redis.jedis().replicaofNoOne();
    }
    assertEquals(Set.of(), redis.jedis().keys("*" + keys.lock() + "*"));
  }
}
