package io.mortise.segmentedlock;

import static io.mortise.scripts.ScriptCall.bytes;
import static io.mortise.scripts.ScriptCall.publish;

import io.mortise.core.spi.LockName;
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

  private static final Script RELEASE = Script.load("segment/release");
  private static final Script MARK = Script.load("segment/mark");
  private static final Script STATE = Script.load("segment/state");

  final LockName name;
  final int count;
  final String channelPrefix;
  final byte[] group;
  final byte[] countBytes;
  final byte[] plainChannels;

  /** The keys of the group. */
  final List<byte[]> ofGroup;

  /**
   * The keys of the group, and a key that never exists. While a slot of a cluster moves, its
   * segments may be on two servers; because of the missing key the cluster refuses the script then.
   */
  final List<byte[]> ofMost;

  SegmentKeys(LockName name, int count) {
    this.name = name;
    this.count = count;
    this.channelPrefix = name.derive("mortise_segment_channel");
    this.group = bytes(name.tagged());
    this.countBytes = bytes(count);
    this.plainChannels = bytes("redisson_lock__channel");
    this.ofGroup =
        List.of(
            bytes(name.derive("mortise_segment_queue")),
            bytes(name.derive("mortise_segment_timeout")),
            bytes(name.derive("mortise_exhausted")));
    this.ofMost = Stream.concat(ofGroup.stream(), Stream.of(bytes(channelPrefix))).toList();
  }

  /** Returns the name of the plain lock that a segment is. */
  LockName nameOf(int index) {
    return new LockName(name.tagged() + ":" + index);
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
        ofMost,
        List.of(
            group,
            countBytes,
            bytes(index),
            bytes(holder),
            bytes(restMillis),
            plainChannels,
            publish()));
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
        MARK, ofMost, List.of(group, countBytes, bytes(index), bytes(what), publish()));
  }

  ScriptCall state() {
    return new ScriptCall(STATE, ofGroup, List.of());
  }
}
