package io.mortise.it.chaos;

import java.nio.file.Path;
import java.util.Random;

/**
 * How clients find the servers of a lock. A new topology is a constant here with its own {@link
 * ChaosServers}; {@link Fault#appliesTo} says which faults it can have.
 */
enum ServerTopology {
  /** Independent servers. */
  STANDALONE,
  /** A master and its replica, found through sentinels; one such for each member of the lock. */
  SENTINEL,
  /** A cluster of masters and replicas, whose slots move; one for each member of the lock. */
  CLUSTER;

  /**
   * Starts the servers.
   *
   * @param directory for files
   */
  ChaosServers open(Family family, Path directory, Random random) {
    return switch (this) {
      case STANDALONE -> new Standalones(family.serverCount(), directory, random);
      case SENTINEL -> new MemberDeployments(family, WatchedMaster::new);
      case CLUSTER -> new MemberDeployments(family, ReshardedCluster::new);
    };
  }
}
