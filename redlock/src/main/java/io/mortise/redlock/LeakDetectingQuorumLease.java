package io.mortise.redlock;

import io.mortise.core.spi.LeakDetectingLease;

/**
 * A lease of a {@link RedLock} as its user has it: guarded, and with what a quorum can be asked.
 */
final class LeakDetectingQuorumLease extends LeakDetectingLease implements QuorumLease {
  private final QuorumLease quorum;

  LeakDetectingQuorumLease(MajorityLease hold, boolean traced) {
    super(hold, traced);
    this.quorum = hold;
  }

  @Override
  public int validNodes() {
    return quorum.validNodes();
  }

  @Override
  public int nodes() {
    return quorum.nodes();
  }

  @Override
  public int quorum() {
    return quorum.quorum();
  }
}
