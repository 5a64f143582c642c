package io.mortise.it.failover;

import static io.mortise.it.support.LongLease.WELL_WITHIN_A_RENEWAL;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LockClient;
import io.mortise.core.RedisLock;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.LongLease;
import io.mortise.it.support.Names;
import io.mortise.it.support.ReportedLosses;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.clients.jedis.UnifiedJedis;

/** The effect of a failover on holds and on waiters. The lease is 30 s throughout. */
@Timeout(180)
abstract class FailoverContract {
  static final Duration PROMOTION = Duration.ofSeconds(60);

  final String name = Names.fresh();
  LockClient here;
  LockClient there;

  /** Returns the URI of the servers. */
  abstract String uri();

  /** Creates a Jedis client of the caller's. */
  abstract UnifiedJedis jedis();

  abstract RedisServer master();

  /** Waits until the replicas are in sync, and makes one of them the master. */
  abstract RedisServer failover();

  /** As {@link #failover()}, or by a crash of the master. */
  abstract RedisServer replaceMaster();

  /** Waits until another node is the master. */
  abstract RedisServer awaitNewMaster(RedisServer former);

  /** Waits until the replicas are in sync, and lets them miss all later writes. */
  abstract void cutReplication();

  /** Returns whether the channel of the lock is subscribed at that master, and nowhere else. */
  abstract boolean isSubscribedAt(RedisServer master);

  @BeforeEach
  void connect() {
    here = LockClient.create(uri(), LongLease.OPTIONS);
    there = LockClient.create(uri(), LongLease.OPTIONS);
  }

  @AfterEach
  void close() {
    here.close();
    there.close();
  }

  /** Kills the master, and waits until another node is the master. */
  RedisServer crashMaster() {
    RedisServer former = master();
    former.kill();
    return awaitNewMaster(former);
  }

  boolean isHeldAt(RedisServer server) {
    return Long.valueOf(1).equals(server.command("EXISTS", name));
  }

  /** Waits until the client finds the lock held at the new master. */
  void awaitLocked(LockClient client) {
    await()
        .atMost(PROMOTION)
        .ignoreExceptions()
        .until(() -> new RedisLock(client, name).isLocked());
  }

  /**
   * Waits until the client's commands reach the new master. A former master that is alive takes
   * commands until a sentinel makes it a replica, which can be seconds later.
   */
  void awaitFollows(LockClient client, RedisServer master) {
    String probe = "{" + name + "}:" + UUID.randomUUID(); // in the same slot of a cluster
    await()
        .atMost(PROMOTION)
        .ignoreExceptions()
        .until(
            () -> {
              new RedisLock(client, probe).tryAcquire().orElseThrow().close();
              return Long.valueOf(1)
                  .equals(master.command("EXISTS", "redisson_lock_token:" + probe));
            });
  }

  CompletableFuture<Optional<Lease>> startWaiter(LockClient client) {
    CompletableFuture<Optional<Lease>> waiter =
        new RedisLock(client, name).acquireAsync(Duration.ofMinutes(2)).toCompletableFuture();
    await().until(() -> isSubscribedAt(master()));
    return waiter;
  }

  static void awaitServed(CompletableFuture<Optional<Lease>> waiter) throws Exception {
    waiter.get(WELL_WITHIN_A_RENEWAL.toMillis(), TimeUnit.MILLISECONDS).orElseThrow().close();
  }

  @Test
  void aHoldThatTheNewMasterKnowsIsKept() throws Exception {
    Lease lease = new RedisLock(here, name).tryAcquire().orElseThrow();

    RedisServer master = failover();

    assertTrue(isHeldAt(master), "the replica knew the hold");
    assertFalse(LateAnswer.tryLock(new RedisLock(there, name), Duration.ofSeconds(2)));
    lease.ensureValid();
    lease.close();
    assertFalse(isHeldAt(master));
    try (Lease next = new RedisLock(there, name).acquire(Duration.ofSeconds(30)).orElseThrow()) {
      assertTrue(next.fencingToken() > lease.fencingToken());
    }
  }

  @Test
  void aHoldThatTheNewMasterMissedIsReportedLostAtOnce() throws Exception {
    cutReplication();
    Lease lost = new RedisLock(here, name).tryAcquire().orElseThrow();
    ReportedLosses losses = ReportedLosses.of(lost);
    crashMaster();

    assertEquals(Reason.MISSING, losses.await(WELL_WITHIN_A_RENEWAL).reason());
    try (Lease next = new RedisLock(there, name).acquire(Duration.ofSeconds(30)).orElseThrow()) {
      assertTrue(next.fencingToken() > lost.fencingToken(), "by the clock of the new master");
    }
  }

  @Test
  void aWaiterIsWokenByTheNewMaster() throws Exception {
    Lease held = new RedisLock(here, name).tryAcquire().orElseThrow();
    CompletableFuture<Optional<Lease>> waiter = startWaiter(there);

    RedisServer master = replaceMaster();

    assertFalse(waiter.isDone());
    await().atMost(PROMOTION).until(() -> isSubscribedAt(master));
    awaitFollows(here, master);
    held.close();
    awaitServed(waiter);
  }

  @Test
  void aClientOnAJedisClientOfTheCallerFollowsToo() throws Exception {
    try (UnifiedJedis jedis = jedis();
        LockClient holding = LockClient.create(jedis, LongLease.OPTIONS);
        LockClient waiting = LockClient.create(jedis, LongLease.OPTIONS)) {
      Lease held = new RedisLock(holding, name).tryAcquire().orElseThrow();
      CompletableFuture<Optional<Lease>> waiter = startWaiter(waiting);

      RedisServer master = replaceMaster();

      assertTrue(isHeldAt(master));
      awaitFollows(holding, master);
      held.ensureValid();
      held.close();
      awaitServed(waiter);
      assertFalse(isHeldAt(master));
    }
  }
}
