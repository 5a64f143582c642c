package io.mortise.connection.topology;

import io.mortise.connection.pool.ConnectionPool;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import redis.clients.jedis.HostAndPort;

/**
 * The nodes of a cluster that this client talks to, each with connections of its own. A node is
 * made when its address is first seen, and closed when the cluster has left it behind.
 */
final class ClusterNodes implements AutoCloseable {
  private final Set<HostAndPort> seeds;
  private final Function<HostAndPort, ConnectionPool> connections;
  private final Map<HostAndPort, RedisNode> nodes = new ConcurrentHashMap<>();
  private volatile Runnable broken = () -> {};
  private volatile boolean closed;

  /**
   * @param seeds the nodes that the user named, never forgotten
   * @param connections how to reach a node
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
    if (closed) { // it may have been made too late for close()
      node.close();
    }
    return node;
  }

  private RedisNode make(HostAndPort address) {
    RedisNode node = new RedisNode(address.toString(), connections.apply(address));
    node.onConnectionLost(() -> broken.run());
    return node;
  }

  /**
   * The node to which another one points.
   *
   * @param to without a host when that is the one of the node that says so
   */
  RedisNode at(HostAndPort to, RedisNode said) {
    return to.getHost().isEmpty()
        ? at(new HostAndPort(HostAndPort.from(said.toString()).getHost(), to.getPort()))
        : at(to);
  }

  /** Closes the connections to all others but the seeds. */
  void retain(Collection<HostAndPort> addresses) {
    nodes.forEach(
        (address, node) -> {
          if (!addresses.contains(address)
              && !seeds.contains(address)
              && nodes.remove(address, node)) {
            node.close();
          }
        });
  }

  void onBroken(Runnable action) {
    broken = action;
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
