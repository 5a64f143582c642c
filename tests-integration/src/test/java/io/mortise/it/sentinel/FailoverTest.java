package io.mortise.it.sentinel;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.RedisSentinelClient;

/** What a failover does to those who hold and to those who wait. The lease is 30 s throughout. */
@Timeout(180)
class FailoverTest {
  private static final Duration WELL_WITHIN_A_RENEWAL = Duration.ofSeconds(8);

  private final String name = "failover:" + UUID.randomUUID();
  private RedisSentinels servers;
  private LockClient here;
  private LockClient there;

  @BeforeEach
  void start() {
    servers = RedisSentinels.start();
    here = SentinelClients.client(servers);
    there = SentinelClients.client(servers);
  }

  @AfterEach
  void stop() {
    here.close();
    there.close();
    servers.close();
  }

  @Test
  void aHoldThatTheNewMasterKnowsIsKept() throws Exception {
    DistributedLock lock = new RedisLock(here, name);
    Lease lease = lock.tryAcquire().orElseThrow();
    servers.awaitInSync();
    RedisServer master = servers.failover();
    assertTrue(holds(master), "the replica had it");
    assertFalse(new RedisLock(there, name).tryLock(Duration.ofSeconds(2)));
    assertTrue(lease.isValid());
    lease.close();
    assertFalse(holds(master));
    try (Lease next = new RedisLock(there, name).acquire(Duration.ofSeconds(30)).orElseThrow()) {
      assertTrue(next.fencingToken() > lease.fencingToken());
    }
  }

  @Test
  void aHoldThatTheNewMasterMissedIsToldLostAtOnce() throws Exception {
    servers.awaitInSync();
    servers.cutReplication();
    Lease lost = new RedisLock(here, name).tryAcquire().orElseThrow();
    BlockingQueue<LeaseLoss> told = new LinkedBlockingQueue<>();
    lost.onLost(told::add);
    RedisServer former = servers.master();
    former.kill();
    servers.awaitNewMaster(former);
    LeaseLoss loss = told.poll(WELL_WITHIN_A_RENEWAL.toMillis(), TimeUnit.MILLISECONDS);
    assertEquals(Reason.MISSING, loss.reason());
    try (Lease next = new RedisLock(there, name).acquire(Duration.ofSeconds(30)).orElseThrow()) {
      assertTrue(next.fencingToken() > lost.fencingToken(), "by the new master's clock");
    }
  }

  @Test
  void whoWaitsIsWokenByTheNewMaster() throws Exception {
    Lease held = new RedisLock(here, name).tryAcquire().orElseThrow();
    CompletableFuture<Optional<Lease>> waiting =
        new RedisLock(there, name).acquireAsync(Duration.ofMinutes(2)).toCompletableFuture();
    await().until(() -> there.status().channels() == 1);
    servers.awaitInSync();
    servers.failover();
    assertFalse(waiting.isDone());
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> channels(servers.master()).contains("redisson_lock__channel:{" + name + "}"));
    held.close();
    Lease next = waiting.get(WELL_WITHIN_A_RENEWAL.toMillis(), TimeUnit.MILLISECONDS).orElseThrow();
    next.close();
  }

  @Test
  void aClientOnTheUsersJedisFollowsToo() throws Exception {
    try (RedisSentinelClient jedis = SentinelClients.jedis(servers);
        LockClient client = LockClient.create(jedis, SentinelClients.OPTIONS)) {
      Lease lease = new RedisLock(client, name).tryAcquire().orElseThrow();
      servers.awaitInSync();
      RedisServer master = servers.failover();
      assertTrue(holds(master));
      await().atMost(Duration.ofSeconds(60)).until(() -> new RedisLock(client, name).isLocked());
      assertTrue(lease.isValid());
      lease.close();
      assertFalse(holds(master));
    }
  }

  private boolean holds(RedisServer server) {
    return Long.valueOf(1).equals(server.command("EXISTS", name));
  }

  private static List<?> channels(RedisServer server) {
    return (List<?>) server.command("PUBSUB", "CHANNELS");
  }
}
