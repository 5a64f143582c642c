package io.mortise.core.spi;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.mortise.core.Lease;
import org.junit.jupiter.api.Test;

/** The one call that a lease gets after its user has dropped it ends the renewal. */
class LeakCleanupTest {

  @Test
  void anErrorInTheLookAtTheLeaseEndsItsRenewalToo() {
    FakeLease lease = new FakeLease("dropped");
    Lease guarded = new LeakDetectingLease(lease, false, Runnable::run);
    lease.errorAtState = new OutOfMemoryError("on purpose");

    assertThrows(OutOfMemoryError.class, guarded::close);

    assertFalse(lease.isRenewed());
  }
}
