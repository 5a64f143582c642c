package io.mortise.segmentedlock;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.ProtocolLeaseSource;

/** Gives the scenarios any segment of a segmented lock as a lock that threads own. */
public final class AnySegment {
  private AnySegment() {}

  public static DistributedLock of(LockClient client, String name, int segments) {
    SegmentKeys keys = new SegmentKeys(LockName.of(client.options(), name), segments);
    return LeaseBackedLock.of(
        ProtocolLeaseSource.of(client, new AnySegmentProtocol(keys, client.options())));
  }
}
