package io.mortise.it.chaos;

import java.util.ArrayList;
import java.util.List;

/** A lock family on a kind of servers, with some options of its clients. */
record TestedLock(Family family, ServerTopology topology, ClientOptions options) {

  private static final int MAX_DEPLOYMENTS = 3;

  /**
   * Each family on its own servers; those that need at most three also behind sentinels and on
   * clusters. All with short times.
   */
  static List<TestedLock> all() {
    List<TestedLock> all = new ArrayList<>();
    for (ServerTopology topology : ServerTopology.values()) {
      for (Family family : Family.values()) {
        if (topology == ServerTopology.STANDALONE || family.serverCount() <= MAX_DEPLOYMENTS) {
          all.add(new TestedLock(family, topology, ClientOptions.SHORT_TIMES));
        }
      }
    }
    return all;
  }

  /** Returns the same with default options. */
  TestedLock withDefaults() {
    return new TestedLock(family, topology, ClientOptions.DEFAULTS);
  }

  /** Returns these locks, a third of them with default options: another third for the next seed. */
  static List<TestedLock> withDefaultsForAThird(List<TestedLock> locks, long seed) {
    List<TestedLock> all = new ArrayList<>();
    for (TestedLock tested : locks) {
      all.add((all.size() + seed) % 3 == 0 ? tested.withDefaults() : tested);
    }
    return all;
  }

  /** The family, {@code @} and the topology unless it is the usual one, {@code +DEFAULTS}. */
  @Override
  public String toString() {
    return family
        + (topology == ServerTopology.STANDALONE ? "" : "@" + topology)
        + (options == ClientOptions.SHORT_TIMES ? "" : "+" + options);
  }
}
