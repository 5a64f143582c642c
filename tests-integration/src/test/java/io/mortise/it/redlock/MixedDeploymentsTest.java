package io.mortise.it.redlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease.State;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.redlock.QuorumLease;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.HostAndPort;

/** A RedLock over a cluster, a master that sentinels watch, and a single server. */
@Timeout(180)
class MixedDeploymentsTest {
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofSeconds(30))
          .commandTimeout(Duration.ofSeconds(3))
          .build();

  /** A hold waits that long before it acquires a node that it is missing. */
  private static final Duration BUDGET = Duration.ofSeconds(1);

  /** For the process that has to get its answers. */
  private static final Duration LONG_BUDGET = Duration.ofSeconds(5);

  private final String name = Names.fresh();
  private RedisCluster cluster;
  private RedisSentinels watched;
  private RedisServer single;
  private QuorumClients here;
  private QuorumClients there;

  @BeforeEach
  void start() throws Exception {
    cluster = RedisCluster.start();
    watched = RedisSentinels.start();
    single = RedisServer.start();
    here = connect(BUDGET);
    there = connect(LONG_BUDGET);
  }

  private QuorumClients connect(Duration budget) {
    String ofCluster =
        cluster.hostPorts().stream()
            .map(HostAndPort::toString)
            .collect(Collectors.joining(",", "redis://", ""));
    String ofSentinels =
        watched.sentinelHostPorts().stream()
            .map(HostAndPort::toString)
            .collect(Collectors.joining(",", "redis-sentinel://", "#" + watched.masterName()));
    return new QuorumClients(
            List.of(
                LockClient.create(ofCluster, OPTIONS),
                LockClient.create(ofSentinels, OPTIONS),
                LockClient.create(single.uri(), OPTIONS)),
            budget)
        .warm();
  }

  @AfterEach
  void stop() {
    here.close();
    there.close();
    cluster.close();
    watched.close();
    single.close();
  }

  private void assertComplete(QuorumLease lease) {
    Eventually.until("all have it", () -> lease.validNodes() == 3);
    assertEquals(State.HELD, lease.state());
  }

  private void assertExcludes(QuorumLease lease) throws Exception {
    assertTrue(there.lock(name).tryAcquire().isEmpty());
    lease.ensureValid();
  }

  private void assertNextHolderAcquires(QuorumLease lease) throws Exception {
    lease.close();
    QuorumLease next = there.acquire(name);
    assertTrue(next.fencingToken() > lease.fencingToken());
    next.close();
    Eventually.until("free", () -> !here.lock(name).isLocked());
  }

  @Test
  void failoversThatLoseTheHoldAreRepaired() throws Exception {
    QuorumLease lease = here.acquireEverywhere(name);
    for (int round = 0; round < 2; round++) {
      watched.awaitInSync();
      watched.cutReplication();
      RedisServer former = watched.master();
      former.kill();
      RedisServer master = watched.awaitNewMaster(former);
      master.command("DEL", name);
      assertExcludes(lease);
      Eventually.until("the new master has it", () -> isOurs(master, 1));
      assertComplete(lease);
      watched.rejoin(former);
      watched.restoreReplication();

      cluster.awaitInSync();
      RedisServer replica = cluster.failover(name);
      replica.command("DEL", name);
      assertExcludes(lease);
      Eventually.until("the promoted one has it", () -> isOurs(replica, 0));
      assertComplete(lease);
      cluster.awaitOk();
    }
    assertNextHolderAcquires(lease);
  }

  /** Whether our hold is there, and not that of a concurrent attempt. */
  private boolean isOurs(RedisServer server, int node) {
    return String.valueOf(server.command("HKEYS", name))
        .startsWith("[" + here.client(node).id() + ":");
  }

  @Test
  void theSingleServerMayBeDownMeanwhile() throws Exception {
    single.kill();
    QuorumLease lease = here.acquire(name);
    assertEquals(2, lease.validNodes());
    assertExcludes(lease);
    single.restart();
    assertComplete(lease);
    assertNextHolderAcquires(lease);
  }

  @Test
  void forceUnlockReleasesItOnEachOfThem() throws Exception {
    QuorumLease lease = here.acquireEverywhere(name);
    assertTrue(there.lock(name).forceUnlock());
    assertFalse(there.lock(name).isLocked());
    QuorumLease next = there.acquireEverywhere(name);
    Eventually.until("the loss is notified", () -> lease.state() == State.LOST);
    assertTrue(next.fencingToken() > lease.fencingToken());
    next.close();
  }
}
