package io.mortise.it.sentinel;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Failovers that no message tells of. The options are the defaults. */
@Timeout(180)
class UnheardFailoverTest {
  private static final Duration SOON = Duration.ofSeconds(30);

  private final String name = "unheard:" + UUID.randomUUID();
  private RedisSentinels servers;
  private List<FaultProxy> proxies;
  private LockClient client;

  @BeforeEach
  void start() {
    servers = RedisSentinels.start();
    proxies = servers.sentinels().stream().map(FaultProxy::to).toList();
    client =
        LockClient.create(
            proxies.stream()
                .map(proxy -> proxy.host() + ":" + proxy.port())
                .collect(Collectors.joining(",", "redis-sentinel://", "#" + servers.masterName())));
  }

  @AfterEach
  void stop() {
    client.close();
    proxies.forEach(FaultProxy::close);
    servers.close();
  }

  private void locks() {
    await()
        .atMost(SOON)
        .ignoreExceptions()
        .untilAsserted(
            () -> {
              Lease lease = new RedisLock(client, name).tryAcquire().orElseThrow();
              lease.close();
            });
  }

  @Test
  void aClientWhoseConnectionsToTheSentinelsAreHalfOpenFollows() {
    locks();
    proxies.forEach(FaultProxy::forgetConnections);
    RedisServer former = servers.master();
    former.kill();
    servers.awaitNewMaster(former);

    locks();
  }

  @Test
  void aHolderWhoseConnectionsToTheSentinelsAreHalfOpenIsToldOfItsLoss() throws Exception {
    servers.awaitInSync();
    servers.cutReplication();
    Lease lost = new RedisLock(client, name).tryAcquire().orElseThrow();
    BlockingQueue<LeaseLoss> told = new LinkedBlockingQueue<>();
    lost.onLost(told::add);
    proxies.forEach(FaultProxy::forgetConnections);
    RedisServer former = servers.master();
    former.kill();
    servers.awaitNewMaster(former);

    LeaseLoss loss = told.poll(8, TimeUnit.SECONDS); // its next renewal is later
    assertEquals(LeaseLoss.Reason.MISSING, loss.reason());
  }

  @Test
  void aMasterThatHangsIsReplacedAndTheClientDoesNotGoBackToIt() throws Exception {
    Lease lease = new RedisLock(client, name).tryAcquire().orElseThrow();
    servers.awaitInSync();
    RedisServer former = servers.master();
    former.pause();
    RedisServer master = servers.awaitNewMaster(former);
    await().atMost(SOON).ignoreExceptions().until(() -> new RedisLock(client, name).isLocked());

    former.resume(); // for ten seconds or more it takes itself for the master

    lease.ensureValid();
    lease.close();
    assertEquals(0L, master.command("EXISTS", name), "it was released at the new master");
    try (Lease next = new RedisLock(client, name).tryAcquire().orElseThrow()) {
      assertEquals(1L, master.command("EXISTS", name));
      assertTrue(next.isValid());
    }
  }

  @Test
  void withoutAQuorumOfSentinelsAHolderGoesOnAndFollowsTheNextFailover() {
    Lease lease = new RedisLock(client, name).tryAcquire().orElseThrow();
    servers.awaitInSync();
    List<RedisServer> away = servers.sentinels().subList(0, 2);
    away.forEach(RedisServer::kill);
    locksAnother();
    lease.ensureValid();
    away.forEach(RedisServer::restart);
    servers.awaitOk();

    RedisServer former = servers.master();
    former.kill();
    RedisServer master = servers.awaitNewMaster(former);

    await().atMost(SOON).ignoreExceptions().until(() -> new RedisLock(client, name).isLocked());
    lease.ensureValid();
    lease.close();
    assertEquals(0L, master.command("EXISTS", name));
  }

  private void locksAnother() {
    try (Lease other = new RedisLock(client, name + ":other").tryAcquire().orElseThrow()) {
      assertTrue(other.isValid());
    }
  }

  @Test
  void aForcedReleaseReachesTheNewMasterAndTheHolderIsToldThatItWasForced() throws Exception {
    Lease lost = new RedisLock(client, name).tryAcquire().orElseThrow();
    BlockingQueue<LeaseLoss> told = new LinkedBlockingQueue<>();
    lost.onLost(told::add);
    servers.awaitInSync();
    servers.failover();
    await().atMost(SOON).ignoreExceptions().until(() -> new RedisLock(client, name).forceUnlock());

    LeaseLoss loss = told.poll(SOON.toSeconds(), TimeUnit.SECONDS);
    assertEquals(LeaseLoss.Reason.FORCED, loss.reason());
    locks();
  }
}
