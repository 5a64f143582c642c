package io.mortise.it.chaos;

import java.util.ArrayList;
import java.util.List;

/** What is put to the proof: a kind of lock on a kind of deployment. */
record TestedLock(Family family, Topology topology) {

  /** Each family on servers of its own, and those that need one server on a watched master too. */
  static List<TestedLock> all() {
    List<TestedLock> all = new ArrayList<>();
    for (Family family : Family.values()) {
      all.add(new TestedLock(family, Topology.STANDALONE));
    }
    for (Family family : Family.values()) {
      if (family.servers() == 1) {
        all.add(new TestedLock(family, Topology.SENTINEL));
      }
    }
    return all;
  }

  @Override
  public String toString() {
    return family + (topology == Topology.STANDALONE ? "" : "@" + topology);
  }
}
