package io.mortise.segmentedlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.PlainLockProtocol;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The protocol of one segment: a plain lock, whose release also notifies those that wait for any
 * segment.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
final class SegmentProtocol extends PlainLockProtocol {
  private static final Script FORCE = Script.load("segment/force");

  private final SegmentKeys keys;
  private final int released;
  private final byte[] forcedMarkMillis;

  private SegmentProtocol(SegmentKeys keys, int index, int released, LockOptions options) {
    super(keys.nameOf(index), options);
    this.keys = keys;
    this.released = released;
    this.forcedMarkMillis = bytes(options.lease().toMillis());
  }

  /** Returns the protocol of those that ask for this segment. */
  static SegmentProtocol of(SegmentKeys keys, int index, LockOptions options) {
    return new SegmentProtocol(keys, index, index, options);
  }

  /**
   * Returns the protocol of a hold by one that asked for any segment. A release looks at all: an
   * attempt whose reply was lost may have got another one.
   */
  static SegmentProtocol selected(SegmentKeys keys, int index, LockOptions options) {
    return new SegmentProtocol(keys, index, SegmentKeys.ANY, options);
  }

  @Override
  public Lease guard(OwnedLease lease, boolean traced, Consumer<Runnable> worker) {
    return new IndexedLease(lease, traced, worker);
  }

  @Override
  public ScriptCall release(String holder) {
    return keys.release(released, holder, 0);
  }

  @Override
  public ScriptCall keep(String holder, long restMillis) {
    return keys.release(released, holder, restMillis);
  }

  @Override
  public ScriptCall forceRelease() {
    List<byte[]> ofSegment =
        List.of(bytes(name().value()), bytes(channel("")), bytes(name().forcedKey()));
    return new ScriptCall(
        FORCE,
        Stream.concat(ofSegment.stream(), keys.ofMost.stream()).toList(),
        List.of(publish(), forcedMarkMillis, keys.group, keys.countBytes));
  }
}
