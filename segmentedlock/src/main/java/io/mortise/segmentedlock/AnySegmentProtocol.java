package io.mortise.segmentedlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.Lease;
import io.mortise.core.LockOptions;
import io.mortise.core.spi.AcquireResult;
import io.mortise.core.spi.LockName;
import io.mortise.core.spi.LockProtocol;
import io.mortise.core.spi.OwnedLease;
import io.mortise.core.spi.QueueingProtocol;
import io.mortise.core.spi.WaiterQueue;
import io.mortise.core.spi.WaiterTimeout;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Consumer;
import java.util.function.IntUnaryOperator;

/**
 * The protocol of an acquisition that takes any segment. One script looks at all segments, from a
 * random one on. When all are busy the acquisition waits in a queue in Redis; a release notifies as
 * many waiters of the queue as there are free segments.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
final class AnySegmentProtocol implements QueueingProtocol {
  private static final Script ACQUIRE_ANY = Script.load("segment/acquire_any");
  private static final Script HEARTBEAT = Script.load("segment/heartbeat");
  private static final Script LEAVE = Script.load("segment/leave");
  private static final Script INSPECT = Script.load("segment/inspect");
  private static final WaiterTimeout TIMEOUT = new WaiterTimeout(WaiterTimeout.DEFAULT);

  /** The reply of the script when all segments are exhausted. */
  private static final long EXHAUSTED = 3;

  private final SegmentKeys keys;
  private final LockOptions options;
  private final IntUnaryOperator random;
  private final byte[] tokenRetentionMillis;

  AnySegmentProtocol(SegmentKeys keys, LockOptions options) {
    this(keys, options, bound -> ThreadLocalRandom.current().nextInt(bound));
  }

  /**
   * Creates the protocol.
   *
   * @param random returns a number from 0 to below its argument: where a search begins
   */
  AnySegmentProtocol(SegmentKeys keys, LockOptions options, IntUnaryOperator random) {
    this.keys = keys;
    this.options = options;
    this.random = random;
    this.tokenRetentionMillis = bytes(options.tuning().tokenRetention().toMillis());
  }

  @Override
  public LockName name() {
    return keys.name;
  }

  @Override
  public String kind() {
    return "segmented lock";
  }

  /** Returns false, because several threads of a client may hold a segment each. */
  @Override
  public boolean usesLocalQueue() {
    return false;
  }

  @Override
  public String channel(String holder) {
    return keys.channelPrefix + ":" + holder;
  }

  @Override
  public boolean hasChannelPerWaiter() {
    return true;
  }

  @Override
  public ScriptCall acquire(String holder, long leaseMillis, boolean waits, int successors) {
    return new ScriptCall(
        ACQUIRE_ANY,
        keys.ofMost,
        List.of(
            keys.group,
            keys.countBytes,
            bytes(random.applyAsInt(keys.count)),
            bytes(holder),
            bytes(leaseMillis),
            tokenRetentionMillis,
            bytes(waits ? TIMEOUT.heartbeatValidityMillis() : 0),
            publish()));
  }

  @Override
  public AcquireResult outcome(Object reply) {
    return (Long) ((List<?>) reply).get(0) == EXHAUSTED
        ? new AcquireResult.Unavailable()
        : WaiterQueue.outcome(reply);
  }

  @Override
  public LockProtocol granted(Object reply) {
    long index = (Long) ((List<?>) reply).get(3);
    return SegmentProtocol.selected(keys, Math.toIntExact(index), options);
  }

  @Override
  public Lease guard(OwnedLease lease, boolean traced, Consumer<Runnable> worker) {
    return new IndexedLease(lease, traced, worker);
  }

  @Override
  public ScriptCall release(String holder) {
    return keys.release(SegmentKeys.ANY, holder, 0);
  }

  @Override
  public ScriptCall keep(String holder, long restMillis) {
    return keys.release(SegmentKeys.ANY, holder, restMillis);
  }

  @Override
  public ScriptCall leave(String holder) {
    return new ScriptCall(
        LEAVE,
        keys.ofMost,
        List.of(keys.group, keys.countBytes, bytes(holder), keys.plainChannels, publish()));
  }

  @Override
  public Heartbeat heartbeat(String holder) {
    ScriptCall item =
        new ScriptCall(
            HEARTBEAT,
            keys.ofGroup,
            List.of(
                keys.group,
                keys.countBytes,
                bytes(holder),
                bytes(TIMEOUT.heartbeatValidityMillis())));
    return new Heartbeat(item, TIMEOUT.heartbeatIntervalMillis());
  }

  /** Returns a query of the time until a segment can be had. */
  @Override
  public ScriptCall queryLease() {
    return new ScriptCall(INSPECT, keys.ofGroup, List.of(keys.group, keys.countBytes));
  }

  // ---- asked of a segment, and not of all

  @Override
  public ScriptCall renew(String holder, long leaseMillis) {
    throw noSegment();
  }

  @Override
  public ScriptCall forceRelease() {
    throw noSegment();
  }

  private UnsupportedOperationException noSegment() {
    return new UnsupportedOperationException(
        "segmented lock '%s': ask one of its segments".formatted(name()));
  }
}
