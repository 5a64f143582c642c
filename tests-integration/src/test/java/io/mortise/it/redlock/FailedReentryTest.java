package io.mortise.it.redlock;

import static io.mortise.it.support.Eventually.LIVENESS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.core.Lease;
import io.mortise.core.Lease.State;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockException;
import io.mortise.core.LockOptions;
import io.mortise.it.support.Eventually;
import io.mortise.it.support.Names;
import io.mortise.redlock.RedLock;
import io.mortise.testkit.FaultProxy.Direction;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A re-entry of a RedLock whose nodes answer too late. */
@Timeout(60)
class FailedReentryTest {
  private static final Duration LEASE = Duration.ofSeconds(3);
  private static final Duration BUDGET = Duration.ofMillis(200);

  @RegisterExtension static final FaultyNodes nodes = new FaultyNodes(3);

  private final QuorumClients clients =
      nodes.proxied(LockOptions.builder().lease(LEASE).build(), BUDGET);

  /** The late answers come after the hold was set back to what it was: it is not renewed. */
  @Test
  void doesNotRenewAHoldWithALeaseOfItsOwn() throws Exception {
    RedLock lock = clients.lock(Names.fresh());
    assertTrue(lock.tryLock(LIVENESS, LEASE.minusMillis(1)));
    Lease lease = lock.lease();
    nodes.proxy(0).delay(Direction.TO_CLIENT, BUDGET.multipliedBy(3));
    nodes.proxy(1).delay(Direction.TO_CLIENT, BUDGET.multipliedBy(3));

    assertThrows(LockException.class, lock::lock);

    assertEquals(1, lock.holdCount());
    nodes.restore();
    Eventually.until("the hold ends with its lease", () -> lease.state() == State.LOST);
    assertThrows(LeaseLostException.class, lock::unlock);
  }
}
