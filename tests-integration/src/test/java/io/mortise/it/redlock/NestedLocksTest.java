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
import io.mortise.it.support.AsyncCall;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.multilock.MultiLock;
import io.mortise.redlock.RedLock;
import io.mortise.rwlock.RedisReadWriteLock;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A RedLock of MultiLocks, a MultiLock with a RedLock, and what cannot be a member. */
@Timeout(120)
class NestedLocksTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(3);

  private static final LockOptions OPTIONS =
      LockOptions.builder().lease(Duration.ofSeconds(3)).build();

  private final String name = Names.fresh();
  private final QuorumClients here = nodes.direct(OPTIONS, Duration.ofSeconds(2));
  private final QuorumClients there = nodes.direct(OPTIONS, Duration.ofSeconds(2));

  private DistributedLock two(LockClient client) {
    return new MultiLock(new RedisLock(client, name + ":a"), new RedisLock(client, name + ":b"));
  }

  private DistributedLock quorumOfTwo(QuorumClients process) {
    RedLock.Builder lock = RedLock.builder().nodeWaitBudget(process.budget());
    process.clients().forEach(client -> lock.member(two(client)));
    return lock.build();
  }

  @Test
  void aRedLockOfMultiLocksLeavesNothingBehindAfterAContendedWait() throws Exception {
    DistributedLock ours = quorumOfTwo(here);
    DistributedLock theirs = quorumOfTwo(there);
    for (int round = 0; round < 5; round++) {
      theirs.lock();
      AsyncCall<Boolean> waiter =
          AsyncCall.start(
              () -> {
                boolean acquired = ours.tryLock(Duration.ofSeconds(30));
                ours.unlock();
                return acquired;
              });
      await().until(() -> here.clients().stream().anyMatch(NestedLocksTest::isWaitedAt));
      theirs.unlock();
      assertTrue(waiter.get());
    }
    for (LockClient client : here.clients()) {
      await().until(() -> client.status().holds() == 0);
      // A hold is given up here before its release has arrived there.
      await().until(() -> !two(client).isLocked());
    }
  }

  /** A waiter waits at the first node by address, which is any of the list. */
  private static boolean isWaitedAt(LockClient client) {
    return client.status().contended() > 0;
  }

  @Test
  void aRedLockCanBeAMember() {
    DistributedLock both =
        new MultiLock(here.lock(name), new RedisLock(here.client(0), name + ":c"));
    both.lock();
    assertFalse(there.lock(name).tryLock());
    assertTrue(here.lock(name).isHeldByCurrentThread());
    both.unlock();
    assertTrue(there.lock(name).tryLock());
    there.lock(name).unlock();
  }

  @Test
  void locksThatWouldWaitForEachOtherAreRefusedAtConstruction() {
    LockClient client = here.client(0);
    RedisReadWriteLock readWrite = new RedisReadWriteLock(client, name);
    List<Runnable> wrong =
        List.of(
            () -> new MultiLock(readWrite.readLock(), readWrite.writeLock()),
            () -> new MultiLock(here.lock(name), new RedisLock(client, name)),
            () -> new MultiLock(new RedisLock(client, name), new RedisLock(there.client(0), name)));
    for (Runnable lock : wrong) {
      var refusal = assertThrows(IllegalArgumentException.class, lock::run);
      assertTrue(refusal.getMessage().contains("would wait for each other"), refusal::getMessage);
    }
    var refusal =
        assertThrows(
            IllegalArgumentException.class,
            () -> new RedLock(readWrite.writeLock(), new RedisLock(here.client(1), name)));
    assertTrue(refusal.getMessage().contains("read-write lock"), refusal::getMessage);
  }

  @Test
  void aMemberThatIsHeldAtAnOuterLevelStaysRenewed() {
    LockClient client = here.client(0);
    DistributedLock outer = new RedisLock(client, name + ":a");
    DistributedLock both = two(client);
    outer.lock();
    both.lock();
    both.withLease(Duration.ofMillis(500)).lock();
    both.unlock();
    both.unlock();
    assertEquals(1, outer.holdCount());
    Eventually.holdsFor(Duration.ofSeconds(4), "held", outer::isHeldByCurrentThread);
    outer.unlock();
    assertFalse(two(client).isLocked());
  }

  @Test
  void aLevelWithAShortLeaseInsideARenewedOneEndsNothing() {
    LockClient client = here.client(0);
    DistributedLock inner = new RedisLock(client, name + ":a");
    DistributedLock both = two(client);
    inner.lock();
    both.withLease(Duration.ofSeconds(2)).lock();
    both.lock();
    both.unlock(); // the multi-lock is not renewed any more, the member's outer level is
    Eventually.holdsFor(Duration.ofSeconds(4), "held", inner::isHeldByCurrentThread);
    assertThrows(IllegalMonitorStateException.class, both::unlock);
    inner.unlock();
    assertFalse(two(client).isLocked());
  }
}
