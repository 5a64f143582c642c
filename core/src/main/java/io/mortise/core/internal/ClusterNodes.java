package io.mortise.core.internal;

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
  private final Function<HostAndPort, ConnectionSource> connections;
  private final Map<HostAndPort, RedisNode> nodes = new ConcurrentHashMap<>();
  private volatile Runnable broken = () -> {};

  /**
   * @param seeds the nodes that the user named, never forgotten
   * @param connections how to reach a node
   */
  ClusterNodes(Set<HostAndPort> seeds, Function<HostAndPort, ConnectionSource> connections) {
    this.seeds = Set.copyOf(seeds);
    this.connections = connections;
  }

  Set<HostAndPort> seeds() {
    return seeds;
  }

  RedisNode at(HostAndPort address) {
    return nodes.computeIfAbsent(
        address,
        absent -> {
          RedisNode node = new RedisNode(absent.toString(), connections.apply(absent));
          node.onBroken(() -> broken.run());
          return node;
        });
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

  @Override
  public void close() {
    nodes.values().forEach(RedisNode::close);
  }

  @Override
  public String toString() {
    return "cluster of " + seeds.stream().map(HostAndPort::toString).sorted().toList();
  }
}
