package io.mortise.it.chaos;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import java.util.List;

/** The servers of one subject, with what stands between them and the clients. */
interface ChaosServers extends AutoCloseable {

  /** For each lock client of a process the URI it is made from. */
  List<String> uris();

  /** How many servers of its own a lock spans; replicas do not count. */
  int servers();

  /** The server at that place, at this moment: a master. */
  RedisServer server(int place);

  /** The way to it. */
  FaultProxy proxy(int place);

  /** Makes a replica, that misses the last writes, the master. Returns when it is. */
  void promoteLagging() throws InterruptedException;

  /** How often a replica has become the master, whether it was to or not. */
  long promotions();

  /** All is well again, whatever has been done. */
  void restore();

  @Override
  void close();
}
