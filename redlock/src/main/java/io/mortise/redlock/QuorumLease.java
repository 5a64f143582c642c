package io.mortise.redlock;

import io.mortise.core.Lease;

/**
 * A lease of a {@link RedLock} that reports on how many nodes it is valid. Every lease that a
 * {@code RedLock} returns is a {@code QuorumLease}:
 *
 * <pre>{@code
 * if (lease instanceof QuorumLease quorum && quorum.validNodes() == quorum.quorum()) {
 *   // one more node, and the hold is lost
 * }
 * }</pre>
 *
 * <p><b>Threads.</b> Any thread may call any method.
 *
 * <p>Not to be implemented by users: later versions may have more methods.
 */
public interface QuorumLease extends Lease {

  /**
   * Returns on how many nodes the hold is valid at this moment; judged by this client, without
   * asking Redis, as the lease itself.
   */
  int validNodes();

  /** Returns the number of nodes of the lock. */
  int nodes();

  /** Returns on how many of them the hold must be valid: a majority of all. */
  int quorum();
}
