package io.mortise.it.chaos;

/**
 * Where the servers of a lock are, and how clients find them. A new one (a cluster) is a constant
 * here with an {@link ChaosServers} of its own; the faults that it cannot have leave it out by
 * {@link Fault#befalls}.
 */
enum Topology {
  /** Servers that know nothing of each other. */
  STANDALONE {
    @Override
    ChaosServers open(int servers) {
      return new Standalones(servers);
    }
  },
  /** A master and its replica, found by way of sentinels. */
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
