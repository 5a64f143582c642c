package io.mortise.redlock;

import io.mortise.core.Lease;

/**
 * A lease of a {@link RedLock}, and on how many nodes it stands. Every lease that a {@code RedLock}
 * gives is one of these:
 *
 * <pre>{@code
 * if (lease instanceof QuorumLease quorum && quorum.validNodes() == quorum.quorum()) {
 *   // one more node, and the hold is lost
 * }
 * }</pre>
 */
public interface QuorumLease extends Lease {

  /** On how many nodes the hold is valid at this moment; judged here, as the lease itself. */
  int validNodes();

  /** Of how many nodes the lock is made. */
  int nodes();

  /** On how many of them the hold must stand: a majority of all. */
  int quorum();
}
