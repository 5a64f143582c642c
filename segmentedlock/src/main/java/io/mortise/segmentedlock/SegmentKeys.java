package io.mortise.segmentedlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.spi.LockName;
import io.mortise.core.spi.QueueingProtocol.Heartbeat;
import io.mortise.core.spi.WaiterTimeout;
import io.mortise.scripts.Script;
import io.mortise.scripts.ScriptCall;
import java.util.List;
import java.util.stream.Stream;

/**
 * The keys and channels of a segmented lock, and the scripts that concern more than one segment.
 *
 * <p><b>Threads.</b> Immutable; any thread may call it.
 */
final class SegmentKeys {
  /** The argument that means whichever segment the holder has; of a reset, all segments. */
  static final int ANY = -1;

  private static final Script ACQUIRE_ANY = Script.load("segment/acquire_any");
  private static final Script HEARTBEAT = Script.load("segment/heartbeat");
  private static final Script RELEASE = Script.load("segment/release");
  private static final Script LEAVE = Script.load("segment/leave");
  private static final Script FORCE = Script.load("segment/force");
  private static final Script MARK = Script.load("segment/mark");
  private static final Script INSPECT = Script.load("segment/inspect");
  private static final Script STATE = Script.load("segment/state");
  private static final WaiterTimeout TIMEOUT = new WaiterTimeout(WaiterTimeout.DEFAULT);

  private final LockName name;
  private final int count;
  private final String channelPrefix;
  private final byte[] group;
  private final byte[] countBytes;
  private final byte[] plainChannels;

  /** The keys of the group. */
  private final List<byte[]> groupKeys;

  /**
   * The keys of the group, and a key that never exists. While a slot of a cluster moves, its
   * segments may be on two servers; because of the missing key the cluster refuses the script then.
   */
  private final List<byte[]> keys;

  SegmentKeys(LockName name, int count) {
    this.name = name;
    this.count = count;
    this.channelPrefix = name.derive("mortise_segment_channel");
    this.group = bytes(name.tagged());
    this.countBytes = bytes(count);
    this.plainChannels = bytes("redisson_lock__channel");
    this.groupKeys =
        List.of(
            bytes(name.derive("mortise_segment_queue")),
            bytes(name.derive("mortise_segment_timeout")),
            bytes(name.derive("mortise_exhausted")));
    this.keys = Stream.concat(groupKeys.stream(), Stream.of(bytes(channelPrefix))).toList();
  }

  LockName name() {
    return name;
  }

  int count() {
    return count;
  }

  /** Returns the name of the plain lock that a segment is. */
  LockName nameOf(int index) {
    return new LockName(name.tagged() + ":" + index);
  }

  /** Returns the channel of one that waits for any segment. */
  String channel(String holder) {
    return channelPrefix + ":" + holder;
  }

  /**
   * Returns an attempt to acquire any segment.
   *
   * @param start the segment with which the search begins
   * @param waits whether it joins the queue when all are busy
   */
  ScriptCall acquireAny(
      int start, String holder, long leaseMillis, byte[] tokenRetentionMillis, boolean waits) {
    return new ScriptCall(
        ACQUIRE_ANY,
        keys,
        List.of(
            group,
            countBytes,
            bytes(start),
            bytes(holder),
            bytes(leaseMillis),
            tokenRetentionMillis,
            bytes(waits ? TIMEOUT.heartbeatValidityMillis() : 0),
            publish()));
  }

  /**
   * Returns a release of that segment, or of the one that the holder has.
   *
   * @param index the segment, or {@link #ANY}
   * @param restMillis the rest of its minimum; 0 for none
   */
  ScriptCall release(int index, String holder, long restMillis) {
    return new ScriptCall(
        RELEASE,
        keys,
        List.of(
            group,
            countBytes,
            bytes(index),
            bytes(holder),
            bytes(restMillis),
            plainChannels,
            publish()));
  }

  ScriptCall leave(String holder) {
    return new ScriptCall(
        LEAVE, keys, List.of(group, countBytes, bytes(holder), plainChannels, publish()));
  }

  Heartbeat heartbeat(String holder) {
    return new Heartbeat(
        new ScriptCall(
            HEARTBEAT,
            groupKeys,
            List.of(group, countBytes, bytes(holder), bytes(TIMEOUT.heartbeatValidityMillis()))),
        TIMEOUT.heartbeatIntervalMillis());
  }

  ScriptCall force(LockName segment, String channel, byte[] markMillis) {
    List<byte[]> ofSegment =
        List.of(bytes(segment.value()), bytes(channel), bytes(segment.forcedKey()));
    List<byte[]> all = Stream.concat(ofSegment.stream(), keys.stream()).toList();
    return new ScriptCall(FORCE, all, List.of(publish(), markMillis, group, countBytes));
  }

  /** Returns a call that marks a segment as exhausted. */
  ScriptCall exhausted(int index) {
    return mark(index, "exhausted");
  }

  /** Returns a call that removes the mark of a segment, or with {@link #ANY} all marks. */
  ScriptCall reset(int index) {
    return mark(index, "reset");
  }

  private ScriptCall mark(int index, String what) {
    return new ScriptCall(
        MARK, keys, List.of(group, countBytes, bytes(index), bytes(what), publish()));
  }

  ScriptCall inspect() {
    return new ScriptCall(INSPECT, groupKeys, List.of(group, countBytes));
  }

  ScriptCall state() {
    return new ScriptCall(STATE, groupKeys, List.of());
  }
}
