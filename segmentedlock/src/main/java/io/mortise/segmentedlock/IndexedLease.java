package io.mortise.segmentedlock;

import io.mortise.core.spi.LeakDetectingLease;
import io.mortise.core.spi.OwnedLease;
import java.util.function.Consumer;

/**
 * The lease of a segment that its user receives. Its index is the end of the segment's name.
 *
 * <p><b>Threads.</b> Any thread may call any method.
 */
final class IndexedLease extends LeakDetectingLease implements SegmentLease {
  private final int index;

  IndexedLease(OwnedLease lease, boolean traced, Consumer<Runnable> worker) {
    super(lease, traced, worker);
    String name = lease.lockName();
    this.index = Integer.parseInt(name.substring(name.lastIndexOf(':') + 1));
  }

  @Override
  public int index() {
    return index;
  }
}
