package io.mortise.it.replicas;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Acknowledgement;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.LockException.Reason;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.Names;
import io.mortise.it.support.ServerUris;
import io.mortise.testkit.RedisSentinels;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Acquisitions that a replica has to acknowledge, with and without a replica. */
@Timeout(180)
class AcknowledgementTest {
  /** With time for a machine that stands still: for acquisitions that have to succeed. */
  private static final LockOptions PATIENT =
      LockOptions.builder()
          .lease(Duration.ofMinutes(5))
          .acknowledgement(Acknowledgement.ofReplicas(1).within(Duration.ofSeconds(5)))
          .commandTimeout(Duration.ofSeconds(15))
          .build();

  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .acknowledgement(Acknowledgement.ofReplicas(1).within(Duration.ofMillis(300)))
          .outageTimeout(Duration.ofMinutes(2))
          .build();

  private final String name = Names.fresh();
  private RedisSentinels servers;
  private LockClient client;

  @BeforeEach
  void start() {
    servers = RedisSentinels.start();
    servers.awaitInSync();
    client = LockClient.create(ServerUris.of(servers), OPTIONS);
  }

  @AfterEach
  void stop() {
    client.close();
    servers.close();
  }

  @Test
  void everyFamilyIsAcknowledged() {
    try (LockClient patient = LockClient.create(ServerUris.of(servers), PATIENT)) {
      for (DistributedLock lock : AllFamilies.of(patient, name)) {
        assertTrue(lock.tryLock(), lock.name());
        lock.unlock();
      }
    }
  }

  @Test
  void withoutAReplicaNoLockIsHeldAndTheErrorSaysWhy() {
    servers.cutReplication();
    for (DistributedLock lock : AllFamilies.of(client, name)) {
      LockException thrown = assertThrows(LockException.class, lock::tryLock, lock.name());
      assertEquals(Reason.NOT_REPLICATED, thrown.reason());
      assertTrue(thrown.getMessage().contains("of 1 replicas"), thrown.getMessage());
      assertFalse(lock.isLocked(), lock.name() + " was undone");
    }
    assertEquals(0, client.status().holds());
  }

  @Test
  void aWaitContinuesUntilTheReplicaIsBack() throws Exception {
    servers.cutReplication();
    CompletableFuture<Optional<Lease>> waiting =
        new RedisLock(client, name).acquireAsync(Duration.ofMinutes(1)).toCompletableFuture();
    Eventually.until("the waiter attempts", () -> client.status().contended() > 0);
    assertFalse(waiting.isDone());
    servers.restoreReplication();
    Lease lease = waiting.get(60, TimeUnit.SECONDS).orElseThrow();
    assertTrue(lease.isValid());
    lease.close();
  }

  @Test
  void anAcknowledgedHoldSurvivesAFailover() throws Exception {
    try (LockClient patient = LockClient.create(ServerUris.of(servers), PATIENT)) {
      Lease lease = new RedisLock(patient, name).tryAcquire().orElseThrow();
      servers.cutReplication(); // later writes are lost
      RedisServer former = servers.master();
      former.kill();
      servers.awaitNewMaster(former);
      RedisLock rival = new RedisLock(client, name);
      Eventually.until("the new master says that it is held", () -> isHeld(rival));
      assertFalse(LateAnswer.tryLock(rival, Duration.ofSeconds(1)));
      assertTrue(lease.isValid());
    }
  }

  /** Until the client has found the new master it may get no answer. */
  private static boolean isHeld(RedisLock lock) {
    try {
      return lock.isLocked();
    } catch (LockException unreachable) {
      return false;
    }
  }

  @Test
  void aWaitThatEndsWithADemotionIsUndoneWhenTheServerIsAMasterAgain() throws Exception {
    try (RedisServer server = RedisServer.start();
        LockClient patient = LockClient.create(server.uri(), PATIENT)) {
      RedisLock lock = new RedisLock(patient, name);
      CompletableFuture<Optional<Lease>> attempt =
          lock.acquireAsync(Duration.ZERO).toCompletableFuture();
      Eventually.until("the attempt waits for a replica", () -> blockedClients(server) == 1);

      server.command("REPLICAOF", "127.0.0.1", "1");

      ExecutionException failed =
          assertThrows(ExecutionException.class, () -> attempt.get(60, TimeUnit.SECONDS));
      LockException thrown = (LockException) failed.getCause();
      assertEquals(Reason.NOT_READY, thrown.reason(), thrown.getMessage());
      assertTrue(thrown.getMessage().contains("UNBLOCKED"), thrown.getMessage());
      assertEquals(1, patient.status().pendingReleases(), "the grant may have stayed");
      server.command("REPLICAOF", "NO", "ONE");
      Eventually.until("it was released", () -> patient.status().pendingReleases() == 0);
      assertFalse(lock.isLocked());
    }
  }

  private static long blockedClients(RedisServer server) {
    return ((String) server.command("INFO", "clients"))
        .lines()
        .filter(line -> line.startsWith("blocked_clients:"))
        .mapToLong(line -> Long.parseLong(line.substring("blocked_clients:".length()).strip()))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aServerWithoutWaitaofIsReportedWhenTheClientIsCreated() {
    LockOptions options =
        LockOptions.builder().acknowledgement(Acknowledgement.NONE.onDisks()).build();
    try (RedisServer server = RedisServer.start()) {
      LockException thrown =
          assertThrows(LockException.class, () -> LockClient.create(server.uri(), options).close());
      // Redis before 7.2 does not know WAITAOF; later ones need an append-only file for it.
      assertEquals(Reason.NOT_SUPPORTED, thrown.reason());
      assertTrue(thrown.getMessage().contains("WAITAOF"), thrown.getMessage());
    }
  }
}
