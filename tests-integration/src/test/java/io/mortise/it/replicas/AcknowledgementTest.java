package io.mortise.it.replicas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.LockOptions.Acknowledgement;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.Eventually;
import io.mortise.multilock.MultiLock;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Acquisitions that a replica has to acknowledge, with a replica and without. */
@Timeout(180)
class AcknowledgementTest {
  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .acknowledgement(Acknowledgement.ofReplicas(1).within(Duration.ofMillis(300)))
          .outageTimeout(Duration.ofMinutes(2))
          .build();

  private final String name = "acknowledged:" + UUID.randomUUID();
  private RedisSentinels servers;
  private LockClient client;

  @BeforeEach
  void start() {
    servers = RedisSentinels.start();
    servers.awaitInSync();
    client =
        LockClient.create(
            servers.sentinelHostPorts().stream()
                .map(Object::toString)
                .collect(Collectors.joining(",", "redis-sentinel://", "#" + servers.masterName())),
            OPTIONS);
  }

  @AfterEach
  void stop() {
    client.close();
    servers.close();
  }

  private List<DistributedLock> families() {
    return List.of(
        new RedisLock(client, name + ":plain"),
        new RedisFairLock(client, name + ":fair"),
        new RedisReadWriteLock(client, name + ":read").readLock(),
        new RedisReadWriteLock(client, name + ":write").writeLock(),
        new MultiLock(new RedisLock(client, name + ":a"), new RedisLock(client, name + ":b")));
  }

  @Test
  void everyFamilyIsAcknowledged() {
    for (DistributedLock lock : families()) {
      assertTrue(lock.tryLock(), lock.name());
      lock.unlock();
    }
  }

  @Test
  void withoutTheReplicaNoneOfThemIsHeldAndTheRefusalSaysWhy() {
    servers.cutReplication();
    for (DistributedLock lock : families()) {
      LockException told = assertThrows(LockException.class, lock::tryLock, lock.name());
      assertEquals(Reason.NOT_REPLICATED, told.reason());
      assertTrue(told.getMessage().contains("of 1 replicas"), told.getMessage());
      assertFalse(lock.isLocked(), lock.name() + " was undone");
    }
    assertEquals(0, client.status().holds());
  }

  @Test
  void aWaitGoesOnUntilTheReplicaIsBack() throws Exception {
    servers.cutReplication();
    CompletableFuture<Optional<Lease>> waiting =
        new RedisLock(client, name).acquireAsync(Duration.ofMinutes(1)).toCompletableFuture();
    Eventually.until("it tries", () -> client.status().contended() > 0);
    assertFalse(waiting.isDone());
    servers.restoreReplication();
    Lease lease = waiting.get(60, TimeUnit.SECONDS).orElseThrow();
    assertTrue(lease.isValid());
    lease.close();
  }

  @Test
  void whatWasAcknowledgedOutlivesAFailover() throws Exception {
    Lease lease = new RedisLock(client, name).tryAcquire().orElseThrow();
    servers.cutReplication(); // what comes later is lost; this is not
    RedisServer former = servers.master();
    former.kill();
    servers.awaitNewMaster(former);
    assertFalse(new RedisLock(client, name).tryLock(Duration.ofSeconds(1)));
    assertTrue(lease.isValid());
  }

  @Test
  void aServerWithoutWaitaofSaysSoAtTheStart() {
    LockOptions onDisks =
        LockOptions.builder().acknowledgement(Acknowledgement.NONE.onDisks()).build();
    try (RedisServer server = RedisServer.start()) {
      LockException told =
          assertThrows(LockException.class, () -> LockClient.create(server.uri(), onDisks).close());
      // Redis before 7.2 does not know it; later ones want an append-only file for it.
      assertEquals(Reason.NOT_SUPPORTED, told.reason());
      assertTrue(told.getMessage().contains("WAITAOF"), told.getMessage());
    }
  }
}
