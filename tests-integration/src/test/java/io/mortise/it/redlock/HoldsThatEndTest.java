package io.mortise.it.redlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LeaseLoss;
import io.mortise.core.LeaseLoss.Reason;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockOptions;
import io.mortise.core.RedisLock;
import io.mortise.it.support.Names;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Holds that must end are not kept alive by the reacquisition of their nodes. */
@Timeout(120)
class HoldsThatEndTest {
  private static final int NODES = 3;

  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(NODES);

  private static final Duration LEASE = Duration.ofSeconds(3);

  private final String name = Names.fresh();
  private QuorumClients here;
  private QuorumClients there;

  private void connect(LockOptions.Builder options) {
    here = nodes.direct(options.lease(LEASE).build(), Duration.ofSeconds(2));
    there = nodes.direct(options.lease(LEASE).build(), Duration.ofSeconds(2));
  }

  @Test
  void aThreadThatDiedWithoutUnlockingFreesTheLock() throws Exception {
    connect(LockOptions.builder());
    RedLock lock = here.lock(name);
    Thread owner = new Thread(lock::lock);
    owner.start();
    owner.join();
    assertTrue(there.lock(name).isLocked());
    assertTrue(there.lock(name).tryLock(Duration.ofSeconds(60)));
    there.lock(name).unlock();
  }

  /** A thread of a pool may live for ever: what is left of each loss would add up. */
  @Test
  void aHoldThatItsThreadHasLostLeavesNothingInItsClientsWhileThatLives() {
    connect(LockOptions.builder());
    RedLock lock = here.lock(name);
    lock.lock();
    forEachNode(RedisServer::pause);
    try {
      while (lock.isHeldByCurrentThread()) { // sees the end of the lease before the clients do
        Thread.onSpinWait();
      }
    } finally {
      forEachNode(RedisServer::resume);
    }

    assertThrows(LeaseLostException.class, lock::unlock);

    here.awaitIdle();
  }

  private static void forEachNode(Consumer<RedisServer> action) {
    for (int i = 0; i < NODES; i++) {
      action.accept(nodes.server(i));
    }
  }

  @Test
  void theMaximumHoldAlsoAppliesToReacquiredNodes() throws Exception {
    connect(LockOptions.builder().maxHold(Duration.ofSeconds(10)));
    BlockingQueue<LeaseLoss> losses = new LinkedBlockingQueue<>();
    QuorumLease lease = here.acquireEverywhere(name);
    lease.onLost(losses::add);
    for (int i = 0; i < 2; i++) { // so that these holds are younger than the third
      nodes.server(i).command("FLUSHALL");
      await().until(() -> lease.validNodes() == 2);
      await().until(() -> lease.validNodes() == 3);
    }
    LeaseLoss loss = losses.poll(30, TimeUnit.SECONDS);
    assertEquals(Reason.EXPIRED, loss.reason());
    assertTrue(losses.isEmpty(), "notified once");
    await().until(() -> !there.lock(name).isLocked());
  }

  @Test
  void aLockThatWasForcedIsNotReacquired() throws Exception {
    connect(LockOptions.builder());
    BlockingQueue<LeaseLoss> losses = new LinkedBlockingQueue<>();
    Lease lease = here.lock(name).tryAcquire().orElseThrow();
    lease.onLost(losses::add);
    await().pollDelay(LEASE).until(lease::isValid); // its nodes are renewed at different times
    assertTrue(there.lock(name).forceUnlock());
    assertEquals(Reason.FORCED, losses.poll(30, TimeUnit.SECONDS).reason());
    assertFalse(lease.isValid());
    assertThrows(LeaseLostException.class, lease::close);
    assertTrue(there.lock(name).tryLock(Duration.ofSeconds(20)));
    there.lock(name).unlock();
  }

  @Test
  void aNodeThatWasForcedIsNotReacquired() throws Exception {
    connect(LockOptions.builder());
    QuorumLease lease = here.acquireEverywhere(name);
    RedisLock forced = there.client(0).lock(name);

    assertTrue(forced.forceUnlock());

    await().until(() -> lease.validNodes() == 2);
    await()
        .during(LEASE.multipliedBy(3).dividedBy(2))
        .atMost(30, TimeUnit.SECONDS)
        .until(() -> !forced.isLocked());
    assertTrue(lease.isValid());
    lease.close();
  }
}
