package io.mortise.segmentedlock;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.LeaseBackedLock;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.ProtocolLeaseSource;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.scripts.ScriptCall;
import java.util.function.IntUnaryOperator;

/** Gives tests the protocols of a segmented lock, and any of its segments as a lock. */
public final class SegmentProtocols {
  /** The number of segments of the protocols. */
  public static final int COUNT = 2;

  private SegmentProtocols() {}

  /**
   * Returns the protocol of those that would take any segment.
   *
   * @param random returns a number from 0 to below its argument
   */
  public static QueueingProtocol any(String name, IntUnaryOperator random) {
    return new AnySegmentProtocol(keys(name), LockOptions.defaults(), random);
  }

  /** Returns the protocol of one segment. */
  public static LockProtocol segment(String name, int index) {
    return SegmentProtocol.of(keys(name), index, LockOptions.defaults());
  }

  /** Returns a call that marks a segment as exhausted, or removes the mark, or all with -1. */
  public static ScriptCall mark(String name, int index, boolean exhausted) {
    return exhausted ? keys(name).exhausted(index) : keys(name).reset(index);
  }

  private static SegmentKeys keys(String name) {
    return new SegmentKeys(new LockName(name), COUNT);
  }

  /** Returns a question to those that would take any segment. */
  public static ScriptCall state(String name) {
    return keys(name).state();
  }

  /** Returns any of so many segments as a lock that threads own. */
  public static DistributedLock any(LockClient client, String name, int segments) {
    SegmentKeys keys = new SegmentKeys(LockName.of(client.options(), name), segments);
    return LeaseBackedLock.of(
        ProtocolLeaseSource.of(client, new AnySegmentProtocol(keys, client.options())));
  }
}
