package io.mortise.it.cluster;

import static io.mortise.it.cluster.ClusterChannels.subscribedNodes;
import static io.mortise.it.support.LongLease.WELL_WITHIN_A_RENEWAL;
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
import io.mortise.it.support.LongLease;
import io.mortise.it.support.Names;
import io.mortise.it.support.ServerUris;
import io.mortise.testkit.RedisCluster;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The effect on holds and waiters when their slot moves to another master. */
@Timeout(120)
@Tag("redis-version")
class SlotMoveTest {
  @AutoClose private static final RedisCluster servers = RedisCluster.builder().replicas(0).start();

  @AutoClose private final LockClient here = client();
  @AutoClose private final LockClient there = client();
  private final String name = Names.fresh();
  private final DistributedLock lock = new RedisLock(here, name);
  private final DistributedLock otherLock = new RedisLock(there, name);

  private static LockClient client() {
    return LockClient.create(ServerUris.of(servers), LongLease.OPTIONS);
  }

  /** Returns a master that does not have the slot. */
  private RedisServer target() {
    RedisServer master = servers.masterOf(name);
    return servers.masters().stream().filter(node -> node != master).findFirst().orElseThrow();
  }

  /** Acquires the lock and releases it. */
  private void use() {
    otherLock.tryAcquire().orElseThrow().close();
  }

  private boolean isHeldAt(RedisServer server) {
    return Long.valueOf(1).equals(server.command("EXISTS", name));
  }

  private CompletableFuture<Optional<Lease>> startWaiter(DistributedLock lock) {
    RedisServer master = servers.masterOf(name);
    CompletableFuture<Optional<Lease>> waiter =
        lock.acquireAsync(Duration.ofMinutes(1)).toCompletableFuture();
    await().until(() -> !ClusterChannels.at(master).isEmpty() || there.status().channels() == 1);
    return waiter;
  }

  private static void awaitServed(CompletableFuture<Optional<Lease>> waiter) throws Exception {
    waiter.get(WELL_WITHIN_A_RENEWAL.toMillis(), TimeUnit.MILLISECONDS).orElseThrow().close();
  }

  @Test
  void aHoldIsKeptAndReleasedAtTheNewMaster() throws Exception {
    Lease lease = lock.tryAcquire().orElseThrow();
    RedisServer target = target();

    servers.moveSlot(name, target);

    assertTrue(isHeldAt(target));
    assertFalse(otherLock.tryLock());
    lease.ensureValid();
    lease.close();
    assertFalse(isHeldAt(target));
    try (Lease next = otherLock.tryAcquire().orElseThrow()) {
      assertTrue(next.fencingToken() > lease.fencingToken(), "the token has moved too");
    }
  }

  @Test
  void aWaiterIsWokenByTheReleaseAtTheNewMaster() throws Exception {
    Lease held = lock.tryAcquire().orElseThrow();
    CompletableFuture<Optional<Lease>> waiter = startWaiter(otherLock);
    RedisServer target = target();

    servers.moveSlot(name, target);

    if (ClusterChannels.areSharded(target)) {
      await()
          .atMost(WELL_WITHIN_A_RENEWAL)
          .until(() -> subscribedNodes(servers, name).equals(List.of(target)));
    }
    assertFalse(waiter.isDone());
    held.close();
    awaitServed(waiter);
  }

  @Test
  void aWaiterInAQueueKeepsItsPlaceAndIsWokenAtTheNewMaster() throws Exception {
    RedisFairLock fair = new RedisFairLock(here, name);
    Lease held = fair.tryAcquire().orElseThrow();
    CompletableFuture<Optional<Lease>> waiter = startWaiter(new RedisFairLock(there, name));
    await().until(() -> fair.queueLength() == 1);

    servers.moveSlot(name, target());

    assertEquals(1, fair.queueLength());
    held.close();
    awaitServed(waiter);
  }

  @Test
  void halfwayTheCommandsGoToTheTargetNodeAndTheHoldIsKept() throws Exception {
    Lease held = lock.tryAcquire().orElseThrow();
    RedisServer target = target();
    target.command("SCRIPT", "FLUSH"); // so that EVAL has to follow EVALSHA there

    servers.moveSlot(
        name,
        target,
        () -> {
          assertTrue(otherLock.isLocked());
          assertFalse(otherLock.tryLock());
          held.ensureValid();
        });

    assertFalse(otherLock.tryLock());
    held.ensureValid();
    held.close();
  }

  /** Some of its keys exist, and some do not, as of every lock that was used recently. */
  @Test
  void halfwayAFreeLockCannotBeAcquiredAndTryLockThrows() {
    use();
    servers.moveSlot(
        name,
        target(),
        () -> {
          LockException thrown = assertThrows(LockException.class, otherLock::tryLock);
          assertEquals(LockException.Reason.NOT_READY, thrown.reason(), thrown::getMessage);
        });
    use();
  }

  @Test
  void aThreadThatAcquiresWhileTheSlotMovesGetsTheLockAfterwards() throws Exception {
    use();
    RedisServer target = target();
    AsyncCall<?>[] caller = new AsyncCall<?>[1];

    servers.moveSlot(
        name,
        target,
        () -> {
          caller[0] =
              AsyncCall.start(
                  () -> {
                    lock.lock();
                    lock.unlock();
                    return true;
                  });
          // For longer than a command may take: it is repeated until then, and again.
          await()
              .during(LongLease.OPTIONS.commandTimeout().multipliedBy(2))
              .atMost(Duration.ofSeconds(10))
              .until(() -> !caller[0].isDone());
        });

    assertEquals(true, caller[0].get());
    assertFalse(isHeldAt(target));
  }
}
