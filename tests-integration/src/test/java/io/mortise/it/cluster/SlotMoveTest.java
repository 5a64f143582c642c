package io.mortise.it.cluster;

import static io.mortise.it.cluster.ClusterClients.WELL_WITHIN_A_RENEWAL;
import static io.mortise.it.cluster.ClusterClients.heardAt;
import static io.mortise.it.cluster.ClusterClients.holds;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import io.mortise.core.LockException;
import io.mortise.core.RedisLock;
import io.mortise.fairlock.RedisFairLock;
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Names;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What becomes of holds and of waiters while their slot moves to another master. */
@Timeout(120)
@Tag("redis-version")
class SlotMoveTest {
  private static RedisCluster servers;

  private final String name = Names.fresh();
  private LockClient here;
  private LockClient there;

  @BeforeAll
  static void startServers() {
    servers = RedisCluster.builder().replicas(0).start();
  }

  @AfterAll
  static void stopServers() {
    servers.close();
  }

  @BeforeEach
  void start() {
    here = ClusterClients.client(servers);
    there = ClusterClients.client(servers);
  }

  @AfterEach
  void stop() {
    here.close();
    there.close();
  }

  private static RedisServer anotherThan(RedisServer master) {
    return servers.masters().stream().filter(node -> node != master).findFirst().orElseThrow();
  }

  private CompletableFuture<Optional<Lease>> waiting(DistributedLock lock) {
    RedisServer master = servers.masterOf(name);
    CompletableFuture<Optional<Lease>> waiting =
        lock.acquireAsync(Duration.ofMinutes(1)).toCompletableFuture();
    await()
        .until(() -> !ClusterClients.channels(master).isEmpty() || there.status().channels() == 1);
    return waiting;
  }

  @Test
  void aHoldIsKeptAndReleasedAtTheNewMaster() throws Exception {
    Lease lease = new RedisLock(here, name).tryAcquire().orElseThrow();
    RedisServer to = anotherThan(servers.masterOf(name));

    servers.moveSlot(name, to);

    assertTrue(holds(to, name));
    assertFalse(new RedisLock(there, name).tryLock());
    lease.ensureValid();
    lease.close();
    assertFalse(holds(to, name));
    try (Lease next = new RedisLock(there, name).tryAcquire().orElseThrow()) {
      assertTrue(next.fencingToken() > lease.fencingToken(), "the token has moved too");
    }
  }

  @Test
  void whoWaitsIsWokenByTheReleaseAtTheNewMaster() throws Exception {
    Lease held = new RedisLock(here, name).tryAcquire().orElseThrow();
    CompletableFuture<Optional<Lease>> waiting = waiting(new RedisLock(there, name));
    RedisServer to = anotherThan(servers.masterOf(name));

    servers.moveSlot(name, to);

    if (ClusterClients.isSharded(to)) {
      await().atMost(WELL_WITHIN_A_RENEWAL).until(() -> heardAt(servers, name).equals(List.of(to)));
    }
    assertFalse(waiting.isDone());
    held.close();
    waiting.get(WELL_WITHIN_A_RENEWAL.toMillis(), TimeUnit.MILLISECONDS).orElseThrow().close();
  }

  @Test
  void whoWaitsInAQueueKeepsItsPlaceAndIsWokenAtTheNewMaster() throws Exception {
    Lease held = new RedisFairLock(here, name).tryAcquire().orElseThrow();
    CompletableFuture<Optional<Lease>> first = waiting(new RedisFairLock(there, name));
    await().until(() -> new RedisFairLock(here, name).queueLength() == 1);

    servers.moveSlot(name, anotherThan(servers.masterOf(name)));

    assertEquals(1, new RedisFairLock(here, name).queueLength());
    held.close();
    first.get(WELL_WITHIN_A_RENEWAL.toMillis(), TimeUnit.MILLISECONDS).orElseThrow().close();
  }

  @Test
  void halfwayTheLockIsAskedForAtTheNodeThatGetsItAndIsHeldStill() throws Exception {
    Lease held = new RedisLock(here, name).tryAcquire().orElseThrow();
    RedisServer to = anotherThan(servers.masterOf(name));
    to.command("SCRIPT", "FLUSH"); // so that the text has to follow the digest there

    servers.moveSlot(
        name,
        to,
        () -> {
          assertTrue(new RedisLock(there, name).isLocked());
          assertFalse(new RedisLock(there, name).tryLock());
          held.ensureValid();
        });

    assertFalse(new RedisLock(there, name).tryLock());
    held.ensureValid();
    held.close();
  }

  /** Some of its keys are there, and some are not, as of every lock that was used lately. */
  @Test
  void aFreeLockCannotBeHadHalfwayAndThatIsNoAnswer() {
    try (Lease before = new RedisLock(here, name).tryAcquire().orElseThrow()) {
      before.ensureValid();
    }
    servers.moveSlot(
        name,
        anotherThan(servers.masterOf(name)),
        () -> {
          LockException notNow =
              assertThrows(LockException.class, () -> new RedisLock(there, name).tryLock());
          assertEquals(LockException.Reason.NOT_READY, notNow.reason(), notNow::getMessage);
        });
    new RedisLock(there, name).tryAcquire().orElseThrow().close();
  }

  @Test
  void whoAsksWhileTheSlotMovesHasItWhenThatIsOver() throws Exception {
    try (Lease before = new RedisLock(there, name).tryAcquire().orElseThrow()) {
      before.ensureValid();
    }
    RedisServer to = anotherThan(servers.masterOf(name));
    DistributedLock lock = new RedisLock(here, name);
    AsyncCall<?>[] caller = new AsyncCall<?>[1];

    servers.moveSlot(
        name,
        to,
        () -> {
          caller[0] =
              AsyncCall.start(
                  () -> {
                    lock.lock();
                    lock.unlock();
                    return true;
                  });
          // For longer than a command may take: it is tried until then, and again.
          await()
              .during(ClusterClients.OPTIONS.commandTimeout().multipliedBy(2))
              .atMost(Duration.ofSeconds(10))
              .until(() -> !caller[0].isDone());
        });

    assertEquals(true, caller[0].get());
    assertFalse(holds(to, name));
  }
}
