package io.mortise.it.chaos;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import java.util.List;

/** The servers of one tested lock, with the proxies between them and the clients. */
interface ChaosServers extends AutoCloseable {

  /** Returns, for each lock client of a process, the URI that it is created from. */
  List<String> uris();

  /** Returns how many independent servers the lock uses; replicas do not count. */
  int count();

  /** Returns the server, or the present master, at that index. */
  RedisServer server(int index);

  /** Returns the proxy in front of the server at that index. */
  FaultProxy proxy(int index);

  /** Makes a replica that has missed the last writes the master; returns when it is. */
  void promoteLaggingReplica() throws InterruptedException;

  /** Returns how often a replica has become the master, planned or not. */
  long promotions();

  /** Ends all faults: all servers run, and all connections work. */
  void restore();

  @Override
  void close();
}
