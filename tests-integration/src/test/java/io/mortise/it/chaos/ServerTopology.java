package io.mortise.it.chaos;

/**
 * How clients find the servers of a lock. A new topology (a cluster) is a constant here with its
 * own {@link ChaosServers}; {@link Fault#appliesTo} says which faults it can have.
 */
enum ServerTopology {
  /** Independent servers. */
  STANDALONE,
  /** A master and its replica, found through sentinels. */
  SENTINEL;

  /** Starts the servers. */
  ChaosServers open(int count) {
    return switch (this) {
      case STANDALONE -> new Standalones(count);
      case SENTINEL -> {
        if (count != 1) {
          throw new IllegalArgumentException("one master, not " + count);
        }
        yield new WatchedMaster();
      }
    };
  }
}
