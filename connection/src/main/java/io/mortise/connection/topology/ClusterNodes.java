package io.mortise.connection.topology;

import io.mortise.connection.pool.ConnectionPool;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import redis.clients.jedis.HostAndPort;

/**
 * The nodes of a cluster that this client uses, each with its own connections. A node is made when
 * its address is first seen, and closed when it is no longer part of the cluster.
 *
 * <p><b>Threads.</b> Any thread may call every method; {@code onConnectionLost} and {@code
 * onReachabilityChange} are called before the first use. {@code close} sets {@code closed} before
 * it reads the nodes, and {@code at} adds a node before it reads {@code closed} (Dekker-style
 * "publish, then look"), so no node stays open.
 */
final class ClusterNodes implements AutoCloseable {
  private final Set<HostAndPort> seeds;
  private final Function<HostAndPort, ConnectionPool> connections;
  private final Map<HostAndPort, RedisNode> nodes = new ConcurrentHashMap<>();

  /** The nodes to which others have redirected since the last {@link #retain}. */
  private final Set<HostAndPort> redirectedTo = ConcurrentHashMap.newKeySet();

  private volatile Runnable connectionLostAction = () -> {};
  private volatile Topology.ReachabilityObserver reachabilityObserver = (server, fault) -> {};
  private volatile boolean closed;

  /**
   * @param seeds the nodes that the user named; they are never removed
   * @param connections makes the connections to a node
   */
  ClusterNodes(Set<HostAndPort> seeds, Function<HostAndPort, ConnectionPool> connections) {
    this.seeds = Set.copyOf(seeds);
    this.connections = connections;
  }

  Set<HostAndPort> seeds() {
    return seeds;
  }

  RedisNode at(HostAndPort address) {
    RedisNode node = nodes.computeIfAbsent(address, this::make);
    if (closed) { // close() may have missed it
      node.close();
    }
    return node;
  }

  private RedisNode make(HostAndPort address) {
    RedisNode node = new RedisNode(address.toString(), connections.apply(address));
    node.onConnectionLost(() -> connectionLostAction.run());
    node.onReachabilityChange(reachabilityObserver);
    return node;
  }

  /** Returns the node to which that one redirects; an unknown host is its own. */
  RedisNode at(HostAndPort to, RedisNode redirecting) {
    HostAndPort address =
        SlotMap.isUnknown(to.getHost())
            ? new HostAndPort(HostAndPort.from(redirecting.toString()).getHost(), to.getPort())
            : to;
    redirectedTo.add(address); // first: spared from the moment that it is made
    return at(address);
  }

  /**
   * Removes and closes all other nodes, except the seeds, and those to which a node has redirected
   * since the last call: a master without slots is part of no slot map, but has the keys of a slot
   * that is on its way there.
   */
  void retain(Collection<HostAndPort> addresses) {
    nodes.forEach(
        (address, node) -> {
          boolean inUse = redirectedTo.remove(address);
          if (!inUse
              && !addresses.contains(address)
              && !seeds.contains(address)
              && nodes.remove(address, node)) {
            node.close();
          }
        });
  }

  void onConnectionLost(Runnable action) {
    connectionLostAction = action;
  }

  void onReachabilityChange(Topology.ReachabilityObserver observer) {
    reachabilityObserver = observer;
  }

  int unreachable() {
    return (int) nodes.values().stream().filter(RedisNode::isUnreachable).count();
  }

  int connectionsInUse() {
    return nodes.values().stream().mapToInt(RedisNode::connectionsInUse).sum();
  }

  boolean isClosed() {
    return closed;
  }

  @Override
  public void close() {
    closed = true;
    nodes.values().forEach(RedisNode::close);
  }

  @Override
  public String toString() {
    return "cluster of " + seeds.stream().map(HostAndPort::toString).sorted().toList();
  }
}
