package io.mortise.it.redlock;

import java.util.List;
import java.util.stream.IntStream;

/** Sets of nodes, by their places. */
final class NodeSets {
  private NodeSets() {}

  /** All sets of so many of the first {@code count} places. */
  static List<List<Integer>> subsets(int count, int least, int most) {
    return IntStream.range(0, 1 << count)
        .filter(set -> Integer.bitCount(set) >= least && Integer.bitCount(set) <= most)
        .mapToObj(
            set -> IntStream.range(0, count).filter(i -> (set & 1 << i) != 0).boxed().toList())
        .toList();
  }
}
