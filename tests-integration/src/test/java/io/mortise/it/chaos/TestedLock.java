package io.mortise.it.chaos;

import java.util.ArrayList;
import java.util.List;

/** A lock family on a kind of servers. */
record TestedLock(Family family, ServerTopology topology) {

  /** Each family on its own servers; those that need one server also behind sentinels. */
  static List<TestedLock> all() {
    List<TestedLock> all = new ArrayList<>();
    for (Family family : Family.values()) {
      all.add(new TestedLock(family, ServerTopology.STANDALONE));
    }
    for (Family family : Family.values()) {
      if (family.serverCount() == 1) {
        all.add(new TestedLock(family, ServerTopology.SENTINEL));
      }
    }
    return all;
  }

  @Override
  public String toString() {
    return family + (topology == ServerTopology.STANDALONE ? "" : "@" + topology);
  }
}
