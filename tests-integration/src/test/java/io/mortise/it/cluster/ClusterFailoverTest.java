package io.mortise.it.cluster;

import static io.mortise.it.cluster.ClusterClients.WELL_WITHIN_A_RENEWAL;
import static io.mortise.it.cluster.ClusterClients.heardAt;
import static io.mortise.it.cluster.ClusterClients.holds;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.RedisClusterClient;

/** What a failover does to those who hold and to those who wait. The lease is 30 s throughout. */
@Timeout(180)
@Tag("redis-version")
class ClusterFailoverTest {
  private static final Duration PROMOTION = Duration.ofSeconds(60);

  private final String name = Names.fresh();
  private RedisCluster servers;
  private LockClient here;
  private LockClient there;

  @BeforeEach
  void start() {
    servers = RedisCluster.start();
    here = ClusterClients.client(servers);
    there = ClusterClients.client(servers);
  }

  @AfterEach
  void stop() {
    here.close();
    there.close();
    servers.close();
  }

  private static BlockingQueue<LeaseLoss> losses(Lease lease) {
    BlockingQueue<LeaseLoss> told = new LinkedBlockingQueue<>();
    lease.onLost(told::add);
    return told;
  }

  private static LeaseLoss awaitLoss(BlockingQueue<LeaseLoss> told) throws InterruptedException {
    LeaseLoss loss = told.poll(WELL_WITHIN_A_RENEWAL.toMillis(), TimeUnit.MILLISECONDS);
    assertNotNull(loss, "the loss is told well within a renewal");
    return loss;
  }

  @Test
  void aHoldThatTheNewMasterKnowsIsKept() throws Exception {
    Lease lease = new RedisLock(here, name).tryAcquire().orElseThrow();
    servers.awaitInSync();

    RedisServer master = servers.failover(name);

    assertFalse(new RedisLock(there, name).tryLock(Duration.ofSeconds(2)));
    lease.ensureValid();
    lease.close();
    assertFalse(holds(master, name));
    try (Lease next = new RedisLock(there, name).acquire(Duration.ofSeconds(30)).orElseThrow()) {
      assertTrue(next.fencingToken() > lease.fencingToken());
    }
  }

  @Test
  void aHoldThatTheNewMasterMissedIsToldLostAtOnce() throws Exception {
    servers.awaitInSync();
    servers.cutReplication(name);
    Lease lost = new RedisLock(here, name).tryAcquire().orElseThrow();
    BlockingQueue<LeaseLoss> told = losses(lost);
    RedisServer former = servers.masterOf(name);
    former.kill();
    servers.awaitNewMaster(name, former);

    assertEquals(Reason.MISSING, awaitLoss(told).reason());
    try (Lease next = new RedisLock(there, name).acquire(Duration.ofSeconds(30)).orElseThrow()) {
      assertTrue(next.fencingToken() > lost.fencingToken(), "by the new master's clock");
    }
  }

  @Test
  void aMasterThatHangsIsReplacedAndItsHoldsGoOn() throws Exception {
    Lease lease = new RedisLock(here, name).tryAcquire().orElseThrow();
    servers.awaitInSync();
    RedisServer former = servers.masterOf(name);
    former.pause();
    servers.awaitNewMaster(name, former);

    await().atMost(PROMOTION).ignoreExceptions().until(() -> new RedisLock(here, name).isLocked());
    lease.ensureValid();
    lease.close();
    assertFalse(holds(servers.masterOf(name), name));
  }

  @Test
  void whoWaitsIsWokenByTheNewMaster() throws Exception {
    Lease held = new RedisLock(here, name).tryAcquire().orElseThrow();
    CompletableFuture<Optional<Lease>> waiting =
        new RedisLock(there, name).acquireAsync(Duration.ofMinutes(2)).toCompletableFuture();
    await().until(() -> heardAt(servers, name).size() == 1);
    servers.awaitInSync();
    RedisServer former = servers.masterOf(name);
    former.kill();
    RedisServer master = servers.awaitNewMaster(name, former);

    assertFalse(waiting.isDone());
    await()
        .atMost(PROMOTION)
        .until(
            () ->
                ClusterClients.isSharded(master)
                    ? heardAt(servers, name).equals(List.of(master))
                    : heardAt(servers, name).size() == 1);
    held.close();
    waiting.get(WELL_WITHIN_A_RENEWAL.toMillis(), TimeUnit.MILLISECONDS).orElseThrow().close();
  }

  @Test
  void aMasterThatComesBackEmptyHasItsHoldsToldLost() throws Exception {
    DistributedLock lock = new RedisLock(here, name);
    Lease lost = lock.tryAcquire().orElseThrow();
    BlockingQueue<LeaseLoss> told = losses(lost);
    RedisServer master = servers.masterOf(name);
    for (RedisServer replica : servers.replicasOf(name)) {
      replica.kill(); // otherwise it could be promoted, with the data
    }
    master.kill();
    master.restart();
    await().atMost(PROMOTION).ignoreExceptions().until(() -> !new RedisLock(here, name).isLocked());

    assertEquals(Reason.MISSING, awaitLoss(told).reason());
  }

  @Test
  void aClientOnTheUsersJedisFollowsToo() throws Exception {
    try (RedisClusterClient jedis = RedisClusterClient.create(servers.hostPorts());
        LockClient client = LockClient.create(jedis, ClusterClients.OPTIONS);
        LockClient other = LockClient.create(jedis, ClusterClients.OPTIONS)) {
      Lease held = new RedisLock(client, name).tryAcquire().orElseThrow();
      CompletableFuture<Optional<Lease>> waiting =
          new RedisLock(other, name).acquireAsync(Duration.ofMinutes(2)).toCompletableFuture();
      await().until(() -> heardAt(servers, name).size() == 1);
      servers.awaitInSync();
      RedisServer former = servers.masterOf(name);
      former.kill();
      servers.awaitNewMaster(name, former);

      await()
          .atMost(PROMOTION)
          .ignoreExceptions()
          .until(() -> new RedisLock(client, name).isLocked());
      held.ensureValid();
      held.close();
      waiting.get(WELL_WITHIN_A_RENEWAL.toMillis(), TimeUnit.MILLISECONDS).orElseThrow().close();
    }
  }
}
