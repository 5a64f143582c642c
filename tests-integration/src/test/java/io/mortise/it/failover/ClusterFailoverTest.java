package io.mortise.it.failover;

import static io.mortise.it.support.LongLease.WELL_WITHIN_A_RENEWAL;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.RedisLock;
import io.mortise.it.cluster.ClusterChannels;
import io.mortise.it.support.ReportedLosses;
import io.mortise.it.support.ServerUris;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import redis.clients.jedis.RedisClusterClient;
import redis.clients.jedis.UnifiedJedis;

/** Failovers of a cluster's master. */
@Tag("redis-version")
class ClusterFailoverTest extends FailoverContract {
  @AutoClose private final RedisCluster servers = RedisCluster.start();

  @Override
  String uri() {
    return ServerUris.of(servers);
  }

  @Override
  UnifiedJedis jedis() {
    return RedisClusterClient.create(servers.hostPorts());
  }

  @Override
  RedisServer master() {
    return servers.masterOf(name);
  }

  @Override
  RedisServer failover() {
    servers.awaitInSync();
    return servers.failover(name);
  }

  @Override
  RedisServer replaceMaster() {
    servers.awaitInSync();
    return crashMaster();
  }

  @Override
  RedisServer awaitNewMaster(RedisServer former) {
    return servers.awaitNewMaster(name, former);
  }

  @Override
  void cutReplication() {
    servers.awaitInSync();
    servers.cutReplication(name);
  }

  @Override
  boolean isSubscribedAt(RedisServer master) {
    List<RedisServer> nodes = ClusterChannels.subscribedNodes(servers, name);
    return ClusterChannels.areSharded(master) ? nodes.equals(List.of(master)) : nodes.size() == 1;
  }

  @Test
  void aMasterThatHangsIsReplacedAndItsHoldsAreKept() {
    Lease lease = new RedisLock(here, name).tryAcquire().orElseThrow();
    servers.awaitInSync();
    RedisServer former = master();
    former.pause();
    awaitNewMaster(former);

    awaitLocked(here);
    lease.ensureValid();
    lease.close();
    assertFalse(isHeldAt(master()));
  }

  @Test
  void theHoldsOfAMasterThatRestartsEmptyAreReportedLost() throws Exception {
    ReportedLosses losses = ReportedLosses.of(new RedisLock(here, name).tryAcquire().orElseThrow());
    RedisServer master = master();
    for (RedisServer replica : servers.replicasOf(name)) {
      replica.kill(); // it could be promoted, with the data
    }
    master.kill();
    master.restart();
    await().atMost(PROMOTION).ignoreExceptions().until(() -> !new RedisLock(here, name).isLocked());

    assertEquals(Reason.MISSING, losses.await(WELL_WITHIN_A_RENEWAL).reason());
  }
}
