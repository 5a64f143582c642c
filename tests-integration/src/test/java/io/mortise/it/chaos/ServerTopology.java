package io.mortise.it.chaos;

/**
 * How clients find the servers of a lock. A new topology (a cluster) is a constant here with its own
 * {@link ChaosServers}; {@link Fault#appliesTo} says which faults it can have.
 */
enum ServerTopology {
  /** Independent servers. */
  STANDALONE {
    @Override
    ChaosServers open(int servers) {
      return new Standalones(servers);
    }
  },
  /** A master and its replica, found through sentinels. */
  SENTINEL {
    @Override
    ChaosServers open(int servers) {
      if (servers != 1) {
        throw new IllegalArgumentException("one master, not " + servers);
      }
      return new WatchedMaster();
    }
  };

  /** Starts the servers. */
  abstract ChaosServers open(int servers);
}
