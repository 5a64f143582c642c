package io.mortise.it.failover;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.LongLease;
import io.mortise.it.support.Names;
import io.mortise.it.support.ReportedLosses;
import io.mortise.it.support.ServerUris;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Failovers of which no message arrives, with default options. */
@Timeout(180)
class UnheardFailoverTest {
  private static final Duration SOON = Duration.ofSeconds(30);

  private final String name = Names.fresh();
  @AutoClose private final RedisSentinels servers = RedisSentinels.start();
  private List<FaultProxy> proxies;
  private LockClient client;

  @BeforeEach
  void start() {
    proxies = servers.sentinels().stream().map(FaultProxy::to).toList();
    client =
        LockClient.create(
            ServerUris.of(
                "redis-sentinel://",
                proxies.stream().map(proxy -> proxy.host() + ":" + proxy.port()).toList(),
                "#" + servers.masterName()));
  }

  @AfterEach
  void stop() {
    client.close();
    proxies.forEach(FaultProxy::close);
  }

  /** Waits until the client can acquire the lock and release it. */
  private void awaitUsable() {
    await()
        .atMost(SOON)
        .ignoreExceptions()
        .untilAsserted(() -> new RedisLock(client, name).tryAcquire().orElseThrow().close());
  }

  /** Waits until the client finds the lock held at the new master. */
  private void awaitLocked() {
    await().atMost(SOON).ignoreExceptions().until(() -> new RedisLock(client, name).isLocked());
  }

  private RedisServer killMaster() {
    RedisServer former = servers.master();
    former.kill();
    return servers.awaitNewMaster(former);
  }

  @Test
  void aClientWhoseConnectionsToTheSentinelsAreHalfOpenFollows() {
    awaitUsable();
    proxies.forEach(FaultProxy::forgetConnections);
    killMaster();

    awaitUsable();
  }

  @Test
  void aHolderWhoseConnectionsToTheSentinelsAreHalfOpenIsNotifiedOfItsLoss() throws Exception {
    servers.awaitInSync();
    servers.cutReplication();
    ReportedLosses losses =
        ReportedLosses.of(new RedisLock(client, name).tryAcquire().orElseThrow());
    proxies.forEach(FaultProxy::forgetConnections);
    killMaster();

    assertEquals(Reason.MISSING, losses.await(LongLease.WELL_WITHIN_A_RENEWAL).reason());
  }

  @Test
  void aMasterThatHangsIsReplacedAndTheClientDoesNotReturnToIt() throws Exception {
    Lease lease = new RedisLock(client, name).tryAcquire().orElseThrow();
    servers.awaitInSync();
    RedisServer former = servers.master();
    former.pause();
    RedisServer master = servers.awaitNewMaster(former);
    awaitLocked();

    former.resume(); // for ten seconds or more it behaves as the master

    lease.ensureValid();
    lease.close();
    assertEquals(0L, master.command("EXISTS", name), "it was released at the new master");
    try (Lease next = new RedisLock(client, name).tryAcquire().orElseThrow()) {
      assertEquals(1L, master.command("EXISTS", name));
      assertTrue(next.isValid());
    }
  }

  @Test
  void withoutAQuorumOfSentinelsAHoldIsKeptAndTheClientFollowsTheNextFailover() {
    Lease lease = new RedisLock(client, name).tryAcquire().orElseThrow();
    servers.awaitInSync();
    List<RedisServer> majority = servers.sentinels().subList(0, 2);
    majority.forEach(RedisServer::kill);
    try (Lease other = new RedisLock(client, name + ":other").tryAcquire().orElseThrow()) {
      assertTrue(other.isValid());
    }
    lease.ensureValid();
    majority.forEach(RedisServer::restart);
    servers.awaitOk();

    RedisServer master = killMaster();

    awaitLocked();
    lease.ensureValid();
    lease.close();
    assertEquals(0L, master.command("EXISTS", name));
  }

  @Test
  void aForcedReleaseReachesTheNewMasterAndTheHolderIsNotified() throws Exception {
    ReportedLosses losses =
        ReportedLosses.of(new RedisLock(client, name).tryAcquire().orElseThrow());
    servers.awaitInSync();
    servers.failover();
    await().atMost(SOON).ignoreExceptions().until(() -> new RedisLock(client, name).forceUnlock());

    assertEquals(Reason.FORCED, losses.await(SOON).reason());
    awaitUsable();
  }
}
