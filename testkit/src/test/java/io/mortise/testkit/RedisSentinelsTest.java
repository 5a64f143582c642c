package io.mortise.testkit;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisSentinelClient;
import redis.clients.jedis.exceptions.JedisDataException;

/** Each test leaves a master with one replica in sync, the other way round than before or not. */
@Timeout(300)
class RedisSentinelsTest {
  private static final String KEY = "order:42";

  private static RedisSentinels redis;

  @BeforeAll
  static void start() {
    redis = RedisSentinels.start();
  }

  @AfterAll
  static void close() {
    redis.close();
  }

  @Test
  void clientsFindTheMaster() {
    assertEquals(3, redis.sentinels().size());
    assertEquals(3, redis.sentinelHostPorts().size());
    assertEquals(2, redis.nodes().size());
    assertEquals(2, redis.uris().size());
    try (var client =
        RedisSentinelClient.builder()
            .masterName(redis.masterName())
            .sentinels(redis.sentinelHostPorts())
            .build()) {
      client.set(KEY, "v");
    }
    assertEquals("v", redis.master().command("GET", KEY));
    redis.awaitInSync();
    assertEquals("v", redis.replicas().get(0).command("GET", KEY));
    assertThrows(JedisDataException.class, () -> redis.replicas().get(0).command("SET", KEY, "w"));
  }

  @Test
  void aFailoverOnDemandKeepsTheData() {
    RedisServer former = redis.master();
    former.command("SET", KEY, "kept");
    redis.awaitInSync();

    RedisServer now = redis.failover();

    assertNotSame(former, now);
    assertSame(now, redis.master());
    assertEquals("kept", now.command("GET", KEY));
    redis.rejoin(former);
    assertEquals("kept", former.command("GET", KEY));
    assertThrows(JedisDataException.class, () -> former.command("SET", KEY, "late"));
    redis.awaitOk();
  }

  @Test
  void aDeadMasterIsReplacedWithoutItsLastWritesAndComesBackAsAReplica() {
    RedisServer former = redis.master();
    former.command("SET", KEY, "before");
    redis.cutReplication();
    former.command("SET", KEY, "lost");
    former.kill();

    RedisServer now = redis.awaitNewMaster(former);

    assertEquals("before", now.command("GET", KEY));
    redis.restoreReplication();
    redis.rejoin(former);
    now.command("SET", KEY, "after");
    redis.awaitInSync();
    assertEquals("after", former.command("GET", KEY));
    redis.awaitOk();
  }

  @Test
  void aSuspendedMasterIsReplacedAndTheSentinelsTellItSo() {
    RedisServer former = redis.master();
    former.pause();
    assertNotSame(former, redis.failover());
    former.resume();
    redis.awaitOk();
    redis.awaitInSync();
    assertTrue(redis.replicas().contains(former));
  }

  @Test
  void aSentinelThatWasDownKnowsAllAgain() {
    RedisServer sentinel = redis.sentinels().get(0);
    Object id = sentinel.command("SENTINEL", "MYID");
    sentinel.kill();
    redis.awaitOk();
    sentinel.restart();
    redis.awaitOk();
    assertEquals(id, sentinel.command("SENTINEL", "MYID"));
  }

  @Test
  void withPasswordsItFailsOverAndLeavesNothing() {
    List<Path> directories;
    List<RedisServer> servers;
    try (RedisSentinels guarded =
        RedisSentinels.builder()
            .replicas(2)
            .password("s3cret")
            .sentinelPassword("w4tch")
            .user("app", "word")
            .downAfter(Duration.ofSeconds(3))
            .start()) {
      servers = new ArrayList<>(guarded.nodes());
      servers.addAll(guarded.sentinels());
      directories = servers.stream().map(RedisServer::directory).toList();
      assertEquals(6, servers.size());
      assertTrue(guarded.uris().get(2).startsWith("redis://app:word@"), guarded.uris().get(2));
      try (var client =
          RedisSentinelClient.builder()
              .masterName(guarded.masterName())
              .sentinels(guarded.sentinelHostPorts())
              .clientConfig(DefaultJedisClientConfig.builder().user("app").password("word").build())
              .sentinelClientConfig(DefaultJedisClientConfig.builder().password("w4tch").build())
              .build()) {
        client.set(KEY, "v");
        guarded.awaitInSync();
        RedisServer former = guarded.master();
        RedisServer now = guarded.failover();
        assertNotSame(former, now);
        await()
            .atMost(Duration.ofMinutes(1))
            .ignoreExceptions()
            .until(() -> client.set(KEY, "w") != null && "w".equals(now.command("GET", KEY)));
      }
      guarded.nodes().get(0).pause();
      guarded.sentinels().get(0).pause();
      guarded.sentinels().get(1).kill();
    }
    assertTrue(servers.stream().noneMatch(RedisServer::isRunning));
    assertTrue(directories.stream().noneMatch(Files::exists));
  }

  @Test
  void whatIsWrongIsRefusedAtTheDoor() {
    RedisSentinels.Builder builder = RedisSentinels.builder();
    assertThrows(IllegalArgumentException.class, () -> builder.replicas(-1));
    assertThrows(IllegalArgumentException.class, () -> builder.sentinels(0));
    assertThrows(IllegalArgumentException.class, () -> builder.downAfter(Duration.ZERO));
    assertThrows(IllegalArgumentException.class, () -> builder.password(""));
    assertThrows(IllegalArgumentException.class, () -> builder.sentinelPassword(""));
    assertThrows(IllegalArgumentException.class, () -> builder.config("masterauth", "x"));
    builder.config("no-such-directive", "1");
    assertThrows(IllegalStateException.class, builder::start);
    try (RedisServer foreign = RedisServer.start()) {
      assertThrows(IllegalArgumentException.class, () -> redis.awaitNewMaster(foreign));
    }
  }
}
