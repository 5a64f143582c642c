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
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Holds that must end are not kept alive by taking their nodes again. */
@Timeout(120)
class HoldsThatEndTest {
  private static final Duration LEASE = Duration.ofMillis(900);

  private final String name = "ends:" + UUID.randomUUID();
  private Nodes nodes;

  @AfterEach
  void stop() {
    nodes.close();
  }

  private void start(LockOptions.Builder options) {
    nodes = Nodes.start(3, options.lease(LEASE).build());
  }

  @Test // pitfall 10
  void aThreadThatDiedWithoutUnlockingFreesTheLock() throws Exception {
    start(LockOptions.builder());
    RedLock lock = nodes.lock(name);
    Thread owner = new Thread(lock::lock);
    owner.start();
    owner.join();
    assertTrue(nodes.otherProcess(name).isLocked());
    assertTrue(nodes.otherProcess(name).tryLock(Duration.ofSeconds(60)));
    nodes.otherProcess(name).unlock();
  }

  @Test
  void theLongestTimeOfAHoldCountsForNodesThatWereTakenAgainToo() throws Exception {
    start(LockOptions.builder().maxHold(Duration.ofSeconds(3)));
    BlockingQueue<LeaseLoss> told = new LinkedBlockingQueue<>();
    Lease lease = nodes.lock(name).tryAcquire().orElseThrow();
    lease.onLost(told::add);
    for (int i = 0; i < 2; i++) { // younger by two seconds than the third
      await()
          .pollDelay(Duration.ofMillis(900))
          .until(() -> ((QuorumLease) lease).validNodes() == 3);
      nodes.servers().get(i).command("FLUSHALL");
    }
    LeaseLoss loss = told.poll(30, TimeUnit.SECONDS);
    assertEquals(Reason.EXPIRED, loss.reason());
    assertTrue(told.isEmpty(), "told once");
    await().until(() -> !nodes.otherProcess(name).isLocked());
  }

  @Test
  void aLockThatWasTakenByForceIsNotTakenBack() throws Exception {
    start(LockOptions.builder());
    BlockingQueue<LeaseLoss> told = new LinkedBlockingQueue<>();
    Lease lease = nodes.lock(name).tryAcquire().orElseThrow();
    lease.onLost(told::add);
    await().pollDelay(LEASE.multipliedBy(2)).until(lease::isValid); // its nodes are out of step
    assertTrue(nodes.otherProcess(name).forceUnlock());
    assertEquals(Reason.FORCED, told.poll(30, TimeUnit.SECONDS).reason());
    assertFalse(lease.isValid());
    assertThrows(LeaseLostException.class, lease::close);
    assertTrue(nodes.otherProcess(name).tryLock(Duration.ofSeconds(5)));
    nodes.otherProcess(name).unlock();
  }
}
