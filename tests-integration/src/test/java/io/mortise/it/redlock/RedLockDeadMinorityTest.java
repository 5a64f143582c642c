package io.mortise.it.redlock;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.it.support.LateAnswer;
import io.mortise.it.support.Names;
import io.mortise.it.support.ServerFault;
import io.mortise.redlock.QuorumLease;
import io.mortise.redlock.RedLock;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two of five servers are dead: the other three are a majority, and the lock works as usual. */
@Timeout(60)
class RedLockDeadMinorityTest {
  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(5);

  private static final LockOptions OPTIONS =
      LockOptions.builder()
          .lease(Duration.ofSeconds(10))
          .commandTimeout(Duration.ofSeconds(3))
          .outageTimeout(Duration.ofMillis(500))
          .build();

  /** Nobody waits for it: a dead server refuses at once. */
  private static final Duration BUDGET = Duration.ofSeconds(5);

  private final String name = Names.fresh();
  private final RedLock lock = nodes.direct(OPTIONS, BUDGET).lock(name);
  private final RedLock other = nodes.direct(OPTIONS, BUDGET).lock(name);

  @BeforeEach
  void killTwo() {
    nodes.begin(ServerFault.KILLED, 0, 3);
  }

  @Test
  void aHeldLockIsReportedAsHeldAndNotAsAFailure() throws Exception {
    try (Lease lease = lock.tryAcquire().orElseThrow()) {
      for (int i = 0; i < 50; i++) {
        assertEquals(Optional.empty(), other.tryAcquire());
      }
      Duration wait = Duration.ofMillis(300);
      assertEquals(Optional.empty(), LateAnswer.repeat(wait, () -> other.acquire(wait)));
      assertTrue(lease.isValid());
    }
  }

  /** The members on the dead servers are lost, and count for nothing. */
  @Test
  void theOwnerReentersAHoldThatHasLostNodes() throws Exception {
    nodes.restore();
    lock.lock();
    QuorumLease lease = (QuorumLease) lock.lease();
    await().atMost(Duration.ofSeconds(40)).until(() -> lease.validNodes() == 5);
    nodes.begin(ServerFault.KILLED, 0, 3);
    await().atMost(Duration.ofSeconds(40)).until(() -> lease.validNodes() == 3);

    lock.lock();
    assertTrue(lock.tryLock());

    assertEquals(3, lock.holdCount());
    lock.unlock();
    lock.unlock();
    lock.unlock();
  }

  @Test
  void anUnboundedWaitForAHolderLastsLongerThanTheOutageTimeout() throws Exception {
    Lease lease = lock.tryAcquire().orElseThrow();
    CompletableFuture<Void> waiting =
        CompletableFuture.runAsync(
            () -> {
              other.lock();
              other.unlock();
            });
    assertThrows(TimeoutException.class, () -> waiting.get(2, TimeUnit.SECONDS));
    lease.close();
    waiting.get(20, TimeUnit.SECONDS);
  }
}
