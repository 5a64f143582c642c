package io.mortise.core.spi;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import java.util.Optional;

/**
 * What a decorator of a lock may ask about the hold of the calling thread. Unlike {@link
 * DistributedLock#isHeldByCurrentThread()} it tells the thread of no loss, so that its next {@code
 * lock()} does.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it, about itself.
 */
public final class CurrentHold {
  private CurrentHold() {}

  /**
   * Returns the hold of the current thread, lost or not; empty if it has none, or knows that it was
   * lost. Of a lock that is no {@link LeaseBackedLock}, nor decorates one, the valid hold.
   */
  public static Optional<Lease> of(DistributedLock lock) {
    if (lock.undecorated() instanceof LeaseBackedLock leased) {
      return ThreadOwnership.leaseOf(leased.source().identity()).map(lease -> lease);
    }
    return lock.isHeldByCurrentThread() ? Optional.of(lock.lease()) : Optional.empty();
  }
}
