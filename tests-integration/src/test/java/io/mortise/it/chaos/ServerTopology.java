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
  /** A master and its replica, found through sentinels. */
  SENTINEL,
  /** A cluster of masters and replicas, whose slots move. */
  CLUSTER;

  /**
   * Starts the servers.
   *
   * @param directory for files
   */
  ChaosServers open(Family family, Path directory, Random random) {
    int count = family.serverCount();
    if (this != STANDALONE && count != 1) {
      throw new IllegalArgumentException(
          "%s needs %d independent servers".formatted(family, count));
    }
    return switch (this) {
      case STANDALONE -> new Standalones(count, directory, random);
      case SENTINEL -> new WatchedMaster();
      case CLUSTER -> new ReshardedCluster();
    };
  }
}
