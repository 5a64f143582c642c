package io.mortise.redlock;

import io.mortise.core.spi.LeakDetectingLease;
import io.mortise.core.spi.OwnedLease;
import java.util.function.Consumer;

/**
 * The lease of a {@link RedLock} that its user receives: guarded against leaks, with the questions
 * of a quorum.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
final class LeakDetectingQuorumLease extends LeakDetectingLease implements QuorumLease {
  private final QuorumLease quorum;

  <L extends OwnedLease & QuorumLease> LeakDetectingQuorumLease(
      L hold, boolean traced, Consumer<Runnable> worker) {
    super(hold, traced, worker);
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
