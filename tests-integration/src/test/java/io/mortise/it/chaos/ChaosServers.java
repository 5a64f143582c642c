package io.mortise.it.chaos;

import io.mortise.testkit.FaultProxy;
import io.mortise.testkit.RedisServer;
import java.time.Duration;
import java.util.List;

/**
 * The servers of one tested lock, with the proxies between them and the clients. {@link
 * Fault#appliesTo} says which of the methods a topology has.
 */
interface ChaosServers extends AutoCloseable {

  /** Returns, for each lock client of a process, the URI that it is created from. */
  List<String> uris();

  /** Returns all servers that have locks now; replicas do not count. */
  List<RedisServer> masters();

  /** Returns the server, or the present master, at that index that has the lock of that name. */
  RedisServer server(int index, String name);

  /** Returns the proxy in front of the server at that index. */
  default FaultProxy proxy(int index) {
    throw new UnsupportedOperationException("clients learn the addresses from the servers");
  }

  /** Breaks all connections of this moment; new ones work. */
  default void closeConnections() {
    throw new UnsupportedOperationException("clients learn the addresses from the servers");
  }

  /** Steps the wall clock of the server at that index forward, or back by a negative time. */
  default void stepClock(int index, Duration by) {
    throw new UnsupportedOperationException("all servers have the clock of the machine");
  }

  /** Lets the wall clocks differ between the servers, if they can; or not, for a round. */
  default void differClocks(boolean differ) {}

  /** Makes the servers from which clients learn addresses silent, until {@link #restore}. */
  default void silenceDirectory() {
    throw new UnsupportedOperationException("clients know the addresses");
  }

  /** Lets them answer again. */
  default void restoreDirectory() {
    throw new UnsupportedOperationException("clients know the addresses");
  }

  /**
   * Makes a replica that has missed the last writes the master at that index that has the lock of
   * that name; returns when it is.
   */
  default void promoteLaggingReplica(int index, String name) throws InterruptedException {
    throw new UnsupportedOperationException("there are no replicas");
  }

  /** The same for a replica that has all writes. */
  default void promoteReplicaInSync(int index, String name) {
    throw new UnsupportedOperationException("there are no replicas");
  }

  /** Moves the slot of that lock to another master; returns when all nodes know it. */
  default void moveSlot(int index, String name) {
    throw new UnsupportedOperationException("there are no slots");
  }

  /** Returns how often a replica has become the master, planned or not. */
  default long promotions() {
    return 0;
  }

  /** Ends all faults: all servers run, and all connections work. */
  void restore();

  @Override
  void close();
}
