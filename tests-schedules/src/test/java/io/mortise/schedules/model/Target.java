package io.mortise.schedules.model;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import io.mortise.multilock.MultiLock;
import io.mortise.segmentedlock.AnySegment;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The locks that calls name: each leaf, several leaves as one lock, and any of several leaves. */
enum Target {
  A(Leaf.A),
  B(Leaf.B),
  FAIR(Leaf.FAIR),
  READ(Leaf.READ),
  WRITE(Leaf.WRITE),
  FAIR_READ(Leaf.FAIR_READ),
  FAIR_WRITE(Leaf.FAIR_WRITE),
  SEGMENT_0(Leaf.SEGMENT_0),
  SEGMENT_1(Leaf.SEGMENT_1),
  A_B(Leaf.A, Leaf.B),
  A_FAIR(Leaf.A, Leaf.FAIR),
  A_B_FAIR(Leaf.A, Leaf.B, Leaf.FAIR),
  B_WRITE(Leaf.B, Leaf.WRITE),
  READ_A(Leaf.READ, Leaf.A),
  SEGMENTS(Leaf.SEGMENT_0, Leaf.SEGMENT_1),
  ANY_SEGMENT(Leaf.SEGMENT_0, Leaf.SEGMENT_1);

  @SuppressWarnings("ImmutableEnumChecker") // the list is immutable
  final List<Leaf> leaves;

  Target(Leaf... leaves) {
    this.leaves = List.of(leaves);
  }

  static Target of(Leaf leaf) {
    return valueOf(leaf.name());
  }

  boolean isMulti() {
    return leaves.size() > 1 && !isAny();
  }

  /** Returns whether an acquisition gets one of the leaves, which only a handle does. */
  boolean isAny() {
    return this == ANY_SEGMENT;
  }

  DistributedLock of(LockClient client) {
    List<DistributedLock> members = leaves.stream().map(leaf -> leaf.of(client)).toList();
    if (isAny()) {
      return AnySegment.of(client, "s", leaves.size());
    }
    return isMulti() ? new MultiLock(members) : members.get(0);
  }

  @Override
  public String toString() {
    String names =
        leaves.stream()
            .map(leaf -> leaf.name().toLowerCase(Locale.ROOT))
            .collect(Collectors.joining(", "));
    return isMulti() ? "multi(" + names + ")" : isAny() ? "any of (" + names + ")" : names;
  }
}
