package io.mortise.it.scripts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.it.scripts.ScriptServer.Keys;
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
import org.junit.jupiter.params.provider.ValueSource;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.exceptions.JedisAccessControlException;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisNoScriptException;

/** What holds for every script: its SHA-1, its keys, and what it leaves when it is read-only. */
@Timeout(60)
@Tag("redis-version")
class ScriptMannersTest {
  @RegisterExtension static final ScriptServer redis = new ScriptServer();

  private final Keys keys = ScriptServer.fresh();
  private Jedis confined;

  /** A user who may touch the keys and the channel of this one lock, and no others. */
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
            "resetchannels",
            "&" + keys.channel());
    confined = new Jedis(redis.server().host(), redis.server().port());
    confined.auth("confined", "any");
  }

  @AfterEach
  void close() {
    confined.close();
  }

  @Test // pitfall 42
  void scriptsTouchOnlyTheKeysThatAreDeclared() {
    assertThrows(JedisAccessControlException.class, () -> confined.get("another key"));
    List<String> all = List.of(keys.lock(), keys.channel(), keys.forced());
    ScriptServer.run(
        confined, "lock/acquire", List.of(keys.lock(), keys.token()), "me", 20_000, 60_000, 1);
    ScriptServer.run(confined, "lock/renew", List.of(keys.lock(), keys.forced()), "me", 20_000);
    ScriptServer.run(confined, "lock/inspect", List.of(keys.lock()));
    ScriptServer.run(confined, "lock/force", all, "PUBLISH", 30_000);
    assertEquals(
        List.of(2L),
        ScriptServer.run(
            confined, "lock/renew", List.of(keys.lock(), keys.forced()), "me", 20_000));
    ScriptServer.run(
        confined, "lock/acquire", List.of(keys.lock(), keys.token()), "next", 20_000, 60_000, 1);
    List<String> lockAndToken = List.of(keys.lock(), keys.token());
    assertEquals(1L, ScriptServer.run(confined, "lock/raise", lockAndToken, "next", 42, 60_000));
    ScriptServer.run(confined, "lock/release", all, "next", "PUBLISH");
    ScriptServer.run(confined, "lock/acquire_all", lockAndToken, "last", 20_000, 60_000);
    ScriptServer.run(confined, "lock/release", all, "last", "PUBLISH");

    assertEquals(
        Set.of(keys.token(), keys.forced()),
        redis.jedis().keys("*" + keys.lock() + "*"),
        "and leave nothing else");
    assertTrue(redis.jedis().pttl(keys.token()) > 0);
    assertTrue(redis.jedis().pttl(keys.forced()) > 0);
  }

  @Test
  void whoMayNotPublishReleasesAllTheSame() {
    redis.jedis().aclSetUser("confined", "-publish");
    redis.acquire(keys, "me", 20_000);

    Object answer =
        ScriptServer.run(
            confined,
            "lock/release",
            List.of(keys.lock(), keys.channel(), keys.forced()),
            "me",
            "PUBLISH");

    assertEquals(List.of(1L, -1L), answer);
    assertEquals(-2, redis.inspect(keys));
  }

  @Test
  void whoMayNotGiveALeaseLeavesNoHoldWithoutOne() {
    redis.jedis().aclSetUser("confined", "-pexpire");

    assertThrows(
        JedisDataException.class,
        () ->
            ScriptServer.run(
                confined,
                "lock/acquire",
                List.of(keys.lock(), keys.token()),
                "me",
                20_000,
                60_000,
                1));

    assertEquals(-2, redis.inspect(keys));
  }

  @ParameterizedTest(name = "forbidden: {0}")
  @ValueSource(strings = {"-pexpire", "-hset"})
  void whoMayNotDoAllThatSeveralLocksNeedHoldsNone(String forbidden) {
    Keys second = ScriptServer.fresh();
    redis
        .jedis()
        .aclSetUser("confined", forbidden, "+hdel", "~" + second.lock(), "~" + second.token());

    assertThrows(
        JedisDataException.class,
        () ->
            ScriptServer.run(
                confined,
                "lock/acquire_all",
                List.of(keys.lock(), keys.token(), second.lock(), second.token()),
                "me",
                20_000,
                60_000,
                "me",
                20_000,
                60_000));

    assertEquals(-2, redis.inspect(keys));
    assertEquals(-2, redis.inspect(second));
  }

  @Test
  void whoMayNotTouchTheSecondOfSeveralLocksHoldsNone() {
    Keys second = ScriptServer.fresh();

    assertThrows(
        JedisDataException.class,
        () ->
            ScriptServer.run(
                confined,
                "lock/acquire_all",
                List.of(keys.lock(), keys.token(), second.lock(), second.token()),
                "me",
                20_000,
                60_000,
                "me",
                20_000,
                60_000));

    assertEquals(Set.of(), redis.jedis().keys("*" + keys.lock() + "*"));
  }

  @ParameterizedTest // pitfall 39
  @ValueSource(
      strings = {
        "lock/acquire",
        "lock/acquire_all",
        "lock/raise",
        "lock/release",
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
                List.of(keys.lock(), keys.token()),
                List.of("other", "20000", "60000", "1"));
    assertEquals(0L, ((List<?>) answer).get(0));
  }

  @Test // pitfall 38
  void aReplicaRefusesToAcquireAndNothingIsWritten() {
    redis.jedis().replicaof(redis.server().host(), 1);
    try {
      JedisDataException refusal =
          assertThrows(JedisDataException.class, () -> redis.acquire(keys, "me", 20_000));
      assertTrue(refusal.getMessage().contains("READONLY"), refusal.getMessage());
      assertEquals(-2, redis.inspect(keys), "asking is allowed");
    } finally {
      redis.jedis().replicaofNoOne();
    }
    assertEquals(Set.of(), redis.jedis().keys("*" + keys.lock() + "*"));
  }
}
