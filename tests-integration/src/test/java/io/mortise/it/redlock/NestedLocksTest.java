package io.mortise.it.redlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A quorum of locks of several, several with a quorum among them, and what cannot be a member. */
@Timeout(120)
class NestedLocksTest {
  private static Nodes nodes;

  private final String name = "nested:" + UUID.randomUUID();

  @BeforeAll
  static void start() {
    nodes = Nodes.start(3, LockOptions.builder().lease(Duration.ofSeconds(1)).build());
  }

  @AfterAll
  static void stop() {
    nodes.close();
  }

  private DistributedLock two(LockClient client) {
    return new MultiLock(new RedisLock(client, name + ":a"), new RedisLock(client, name + ":b"));
  }

  private DistributedLock quorumOfTwo(List<LockClient> clients) {
    RedLock.Builder lock = RedLock.builder().nodeWaitBudget(Duration.ofMillis(250));
    clients.forEach(client -> lock.member(two(client)));
    return lock.build();
  }

  @Test
  void aQuorumOfLocksOfSeveralLeavesNothingBehindAfterAContendedWait() throws Exception {
    DistributedLock here = quorumOfTwo(nodes.here());
    DistributedLock there = quorumOfTwo(nodes.there());
    ExecutorService waiter = Executors.newSingleThreadExecutor();
    for (int round = 0; round < 5; round++) {
      there.lock();
      Future<Boolean> waiting =
          waiter.submit(
              () -> {
                boolean had = here.tryLock(Duration.ofSeconds(30));
                here.unlock();
                return had;
              });
      await().until(() -> nodes.here().stream().anyMatch(NestedLocksTest::isWaitedAt));
      there.unlock();
      assertTrue(waiting.get(40, TimeUnit.SECONDS));
    }
    waiter.shutdown();
    for (LockClient client : nodes.here()) {
      await().until(() -> client.status().holds() == 0);
      assertFalse(two(client).isLocked());
    }
  }

  /** Who waits does so at the first node by address, which is any of the list. */
  private static boolean isWaitedAt(LockClient client) {
    return client.status().contended() > 0;
  }

  @Test
  void aQuorumCanBeAMember() {
    DistributedLock both =
        new MultiLock(nodes.lock(name), new RedisLock(nodes.here().get(0), name + ":c"));
    both.lock();
    assertFalse(nodes.otherProcess(name).tryLock());
    assertTrue(nodes.lock(name).isHeldByCurrentThread());
    both.unlock();
    assertTrue(nodes.otherProcess(name).tryLock());
    nodes.otherProcess(name).unlock();
  }

  @Test
  void locksThatWouldWaitForEachOtherAreRefusedAtTheDoor() {
    LockClient client = nodes.here().get(0);
    RedisReadWriteLock readWrite = new RedisReadWriteLock(client, name);
    List<Runnable> wrong =
        List.of(
            () -> new MultiLock(readWrite.readLock(), readWrite.writeLock()),
            () -> new MultiLock(nodes.lock(name), new RedisLock(client, name)),
            () ->
                new MultiLock(
                    new RedisLock(client, name), new RedisLock(nodes.there().get(0), name)));
    for (Runnable lock : wrong) {
      var refusal = assertThrows(IllegalArgumentException.class, lock::run);
      assertTrue(refusal.getMessage().contains("would wait for each other"), refusal::getMessage);
    }
    var refusal =
        assertThrows(
            IllegalArgumentException.class,
            () -> new RedLock(readWrite.writeLock(), new RedisLock(nodes.here().get(1), name)));
    assertTrue(refusal.getMessage().contains("read-write lock"), refusal::getMessage);
  }

  @Test
  void aMemberThatIsHeldAtAnOuterLevelStaysRenewed() {
    LockClient client = nodes.here().get(0);
    DistributedLock outer = new RedisLock(client, name + ":a");
    DistributedLock both = two(client);
    outer.lock();
    both.lock();
    both.lock(Duration.ofMillis(500));
    both.unlock();
    both.unlock();
    assertEquals(1, outer.holdCount());
    await()
        .pollInSameThread()
        .during(Duration.ofSeconds(3))
        .atMost(Duration.ofSeconds(30))
        .until(outer::isHeldByCurrentThread);
    outer.unlock();
    assertFalse(two(client).isLocked());
  }

  @Test
  void aLevelWithAShortLeaseInsideARenewedOneEndsNothing() {
    LockClient client = nodes.here().get(0);
    DistributedLock inner = new RedisLock(client, name + ":a");
    DistributedLock both = two(client);
    inner.lock();
    both.lock(Duration.ofMillis(600));
    both.lock();
    both.unlock(); // the multi-lock is not renewed any more, the member's outer level is
    await()
        .pollInSameThread()
        .during(Duration.ofSeconds(3))
        .atMost(Duration.ofSeconds(30))
        .until(inner::isHeldByCurrentThread);
    assertThrows(IllegalMonitorStateException.class, both::unlock);
    inner.unlock();
    assertFalse(two(client).isLocked());
  }
}
