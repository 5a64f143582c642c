package io.mortise.core.composite;

import io.mortise.core.internal.lease.GroupRelease;
import io.mortise.core.internal.lease.GroupTimeout;
import io.mortise.core.internal.lease.GroupTokenRaise;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.OwnedLease;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Releases several leases, and raises their tokens, in one round trip for each client.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
public final class LeaseGroup {
  private LeaseGroup() {}

  /**
   * Releases all of the leases, those of one client in one round trip.
   *
   * @return the failures; every lease was released, or is being released in the background
   */
  public static List<RuntimeException> release(List<? extends OwnedLease> leases) {
    return GroupRelease.run(leases, GroupTimeout.OF_COMMANDS);
  }

  /** Releases leases as {@link #release}. Allocates nothing before it begins. */
  @FunctionalInterface
  public interface Releaser {
    List<RuntimeException> release(List<? extends OwnedLease> leases);
  }

  /**
   * Returns a releaser that takes at most the rest of a wait and a round trip, and then a moment
   * for all clients together whose servers are silent: their holds are released in the background.
   *
   * @param terms the terms of the wait; without a wait each client has its command timeout
   * @param leftNanos returns the rest of the wait
   */
  public static Releaser releaser(LeaseTerms terms, LongSupplier leftNanos) {
    GroupTimeout timeout = GroupTimeout.within(terms, leftNanos);
    return leases -> GroupRelease.run(leases, timeout);
  }

  /**
   * Raises the tokens of all of the leases, those of one client in one round trip; see {@link
   * OwnedLease#raiseToken}. Takes the rest of a wait and a round trip, and a moment for each client
   * after that.
   *
   * @param terms the terms of the wait; without a wait each client has its command timeout
   * @param leftNanos returns the rest of the wait
   * @return whether all are held and now have at least that token
   * @throws io.mortise.core.LockException if Redis could not be used
   */
  public static boolean raiseTokens(
      List<? extends OwnedLease> leases, long atLeast, LeaseTerms terms, LongSupplier leftNanos) {
    return GroupTokenRaise.run(leases, atLeast, GroupTimeout.within(terms, leftNanos));
  }
}
