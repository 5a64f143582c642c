package io.mortise.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.DefaultJedisClientConfig;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.exceptions.JedisMovedDataException;

/** Each test leaves the cluster in order, with other masters than before. */
@Timeout(300)
class RedisClusterTest {
  private static final String KEY = "order:42";

  private static RedisCluster cluster;

  @BeforeAll
  static void start() {
    cluster = RedisCluster.start();
  }

  @AfterAll
  static void close() {
    cluster.close();
  }

  @BeforeEach
  void inOrder() {
    cluster.awaitOk();
    cluster.awaitInSync();
  }

  @Test
  void clientsFindEachKeyAtItsMaster() {
    assertEquals(6, cluster.nodes().size());
    assertEquals(6, cluster.uris().size());
    assertEquals("redis://127.0.0.1:" + cluster.nodes().get(0).port(), cluster.uris().get(0));
    assertEquals(3, cluster.masters().size());
    try (var client = RedisClusterClient.builder().nodes(cluster.hostPorts()).build()) {
      for (int i = 0; i < 100; i++) {
        client.set("key:" + i, "" + i);
        assertEquals("" + i, cluster.masterOf("key:" + i).command("GET", "key:" + i));
      }
    }
    cluster.awaitInSync();
    RedisServer replica = cluster.replicasOf(KEY).get(0);
    assertThrows(JedisMovedDataException.class, () -> replica.command("GET", KEY));
    assertEquals(1, cluster.replicasOf(KEY).size());
  }

  @Test
  void anOrderlyFailoverKeepsTheData() {
    RedisServer former = cluster.masterOf(KEY);
    RedisServer replica = cluster.replicasOf(KEY).get(0);
    former.command("SET", KEY, "kept");

    assertSame(replica, cluster.failover(KEY));

    assertSame(replica, cluster.masterOf(KEY));
    assertEquals(List.of(former), cluster.replicasOf(KEY));
    assertEquals("kept", replica.command("GET", KEY));
    assertThrows(JedisMovedDataException.class, () -> former.command("SET", KEY, "late"));
  }

  @Test
  void aFailoverOfCutReplicationLosesTheLastWrites() {
    RedisServer former = cluster.masterOf(KEY);
    former.command("SET", KEY, "before");
    cluster.cutReplication(KEY);
    former.command("SET", KEY, "lost");

    RedisServer now = cluster.failover(KEY);

    assertNotSame(former, now);
    assertEquals("before", now.command("GET", KEY));
    cluster.awaitInSync();
    now.command("SET", KEY, "after");
    assertSame(former, cluster.failover(KEY));
    assertEquals("after", former.command("GET", KEY), "replication goes on");
  }

  @Test
  void restoredReplicationCatchesUp() {
    RedisServer master = cluster.masterOf(KEY);
    cluster.cutReplication(KEY);
    master.command("SET", KEY, "late");
    cluster.restoreReplication();
    cluster.awaitInSync();
    assertEquals("late", cluster.failover(KEY).command("GET", KEY));
  }

  @Test
  void aDeadMasterIsReplacedByItselfAndComesBackAsAReplica() {
    RedisServer former = cluster.masterOf(KEY);
    former.command("SET", KEY, "kept");
    cluster.awaitInSync();
    former.kill();

    RedisServer now = cluster.awaitNewMaster(KEY, former);

    assertEquals("kept", now.command("GET", KEY));
    assertThrows(IllegalStateException.class, () -> cluster.failover(KEY), "no replica is left");
    former.restart();
    cluster.awaitOk();
    cluster.awaitInSync();
    assertEquals(List.of(former), cluster.replicasOf(KEY));
  }

  @Test
  void aDeadOrSuspendedMasterIsReplacedAtOnce() {
    RedisServer first = cluster.masterOf(KEY);
    first.kill();
    RedisServer second = cluster.failover(KEY);
    first.restart();
    cluster.awaitOk();
    cluster.awaitInSync();

    second.pause();
    assertSame(first, cluster.failover(KEY));
    assertEquals("OK", first.command("SET", KEY, "v"));
    second.resume();
    cluster.awaitOk();
    assertEquals(List.of(second), cluster.replicasOf(KEY));
  }

  @Test
  void aSlotMovesWithItsKeys() {
    RedisServer from = cluster.masterOf(KEY);
    RedisServer to = another(from);
    RedisServer replica = cluster.replicasOf(KEY).get(0);
    from.command("SET", KEY, "v");
    for (int i = 0; i < 250; i++) {
      from.command("SET", "{" + KEY + "}:" + i, "" + i);
    }

    cluster.moveSlot(
        KEY,
        to,
        () -> {
          var ask = assertThrows(JedisDataException.class, () -> from.command("GET", KEY));
          assertTrue(ask.getMessage().contains("ASK"), ask.getMessage());
          assertThrows(JedisMovedDataException.class, () -> to.command("GET", KEY));
        });

    assertSame(to, cluster.masterOf(KEY));
    assertEquals("v", to.command("GET", KEY));
    assertEquals("249", to.command("GET", "{" + KEY + "}:249"));
    assertThrows(JedisMovedDataException.class, () -> from.command("GET", KEY));
    assertThrows(IllegalArgumentException.class, () -> cluster.moveSlot(KEY, to));
    assertThrows(IllegalArgumentException.class, () -> cluster.moveSlot(KEY, replica));
    cluster.awaitOk();
  }

  @Test
  void aProtectedClusterOfTwoMovesAndFailsOverAndLeavesNothing() {
    List<Path> directories;
    List<RedisServer> nodes;
    try (RedisCluster two =
        RedisCluster.builder()
            .masters(2)
            .password("s3cret")
            .user("app", "word", "~order:*", "+@all")
            .nodeTimeout(Duration.ofSeconds(3))
            .config("cluster-replica-no-failover", "yes")
            .start()) {
      nodes = two.nodes();
      directories = nodes.stream().map(RedisServer::directory).toList();
      assertEquals(4, nodes.size());
      assertTrue(two.uris().get(0).startsWith("redis://app:word@127.0.0.1:"), two.uris().get(0));
      var config = DefaultJedisClientConfig.builder().user("app").password("word").build();
      try (var client =
          RedisClusterClient.builder().nodes(two.hostPorts()).clientConfig(config).build()) {
        client.set(KEY, "v");
        RedisServer to =
            two.masters().stream().filter(m -> m != two.masterOf(KEY)).findFirst().orElseThrow();
        two.moveSlot(KEY, to);
        two.awaitInSync();
        two.cutReplication(KEY);
        client.set(KEY, "lost");
        RedisServer now = two.failover(KEY);
        assertEquals("v", now.command("GET", KEY));
        two.awaitInSync();
        assertNotSame(now, two.failover(KEY));
        assertThrows(IllegalStateException.class, () -> two.promote(dead(now)));
      }
      nodes.get(0).pause();
      nodes.get(1).kill();
    }
    assertTrue(nodes.stream().noneMatch(RedisServer::isRunning));
    assertTrue(directories.stream().noneMatch(Files::exists));
    assertTrue(nodes.stream().allMatch(node -> Ports.isFree(node.port())));
  }

  @Test
  void aClusterWithoutReplicasSaysSo() {
    try (RedisCluster alone = RedisCluster.builder().masters(1).replicas(0).start()) {
      assertEquals(List.of(), alone.replicasOf(KEY));
      var none = assertThrows(IllegalStateException.class, () -> alone.failover(KEY));
      assertTrue(none.getMessage().contains(KEY), none.getMessage());
      assertNull(alone.masterOf(KEY).command("GET", KEY));
      RedisServer foreign = cluster.nodes().get(0);
      assertThrows(IllegalArgumentException.class, () -> alone.moveSlot(KEY, foreign));
      alone.nodes().get(0).kill();
      assertThrows(IllegalStateException.class, () -> alone.masterOf(KEY));
    }
  }

  @Test
  void whatIsWrongIsRefusedAtTheDoor() {
    RedisCluster.Builder builder = RedisCluster.builder();
    assertThrows(IllegalArgumentException.class, () -> builder.masters(0));
    assertThrows(IllegalArgumentException.class, () -> builder.replicas(-1));
    assertThrows(IllegalArgumentException.class, () -> builder.nodeTimeout(Duration.ZERO));
    assertThrows(IllegalArgumentException.class, () -> builder.password(""));
    assertThrows(IllegalArgumentException.class, () -> builder.user("a b", "x"));
    assertThrows(IllegalArgumentException.class, () -> builder.config("requirepass", "x"));
    assertThrows(IllegalArgumentException.class, () -> builder.config("port", "1"));
    builder.config("no-such-directive", "1");
    assertThrows(IllegalStateException.class, builder::start);
    assertFalse(cluster.toString().isEmpty());
  }

  private static RedisServer dead(RedisServer node) {
    node.kill();
    return node;
  }

  private static RedisServer another(RedisServer master) {
    return cluster.masters().stream().filter(other -> other != master).findFirst().orElseThrow();
  }
}
