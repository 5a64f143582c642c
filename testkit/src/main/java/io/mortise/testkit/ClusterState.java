package io.mortise.testkit;

import io.mortise.testkit.ClusterView.Member;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Collectors;
import redis.clients.jedis.util.JedisClusterCRC16;

/** What the nodes of a cluster that answer say together, asked anew each time. */
final class ClusterState {
  private final DataNodes nodes;

  ClusterState(DataNodes nodes) {
    this.nodes = nodes;
  }

  static int slot(String key) {
    return JedisClusterCRC16.getSlot(key);
  }

  /** Those with slots, also such as do not answer. */
  List<RedisServer> masters() {
    return views().get(0).members().stream()
        .filter(member -> !member.slots().isEmpty())
        .map(member -> nodes.byPort(member.port()))
        .toList();
  }

  RedisServer masterOf(String key) {
    return nodes.byPort(owner(key, views()).port());
  }

  /** As those see it that know who the master is. */
  List<RedisServer> replicasOf(String key) {
    List<ClusterView> views = views();
    String master = owner(key, views).id();
    return views.stream()
        .filter(view -> view.owner(slot(key)).filter(o -> o.id().equals(master)).isPresent())
        .flatMap(view -> view.replicasOf(master).stream())
        .map(replica -> nodes.byPort(replica.port()))
        .distinct()
        .toList();
  }

  /** As that master itself sees it. */
  List<RedisServer> replicasOf(RedisServer master) {
    return ClusterView.of(master).replicasOf(ClusterFormation.id(master)).stream()
        .map(replica -> nodes.byPort(replica.port()))
        .toList();
  }

  /** Whether all say the same of masters, replicas and slots. */
  boolean isAgreed() {
    return views().stream().map(ClusterView::shape).distinct().count() == 1;
  }

  /** Whether, besides, each slot has a node that answers, and all find the cluster in order. */
  boolean isOk() {
    BitSet served = new BitSet(ClusterView.SLOTS);
    views().get(0).members().stream()
        .filter(member -> nodes.byPort(member.port()).canAnswer())
        .forEach(member -> served.or(member.slots()));
    return served.cardinality() == ClusterView.SLOTS
        && isAgreed()
        && nodes.reachable().stream()
            .map(node -> String.valueOf(node.command("CLUSTER", "INFO")))
            .allMatch(info -> info.contains("cluster_state:ok"));
  }

  /** Whether all agree, and about that one as a master. */
  boolean isMasterForAll(RedisServer node) {
    return isAgreed()
        && views().get(0).members().stream()
            .filter(member -> member.port() == node.port())
            .allMatch(Member::isMaster);
  }

  /** The master that such a node had last; the node itself when it is a master. */
  RedisServer masterOf(RedisServer node) {
    String port = node.field("replication", "master_port");
    return port.isEmpty() ? node : nodes.byPort(Integer.parseInt(port));
  }

  private static Member owner(String key, List<ClusterView> views) {
    return ClusterView.owner(slot(key), views)
        .orElseThrow(() -> new IllegalStateException("nobody has the slot of '" + key + "'"));
  }

  private List<ClusterView> views() {
    List<ClusterView> views = nodes.reachable().stream().map(ClusterView::of).toList();
    if (views.isEmpty()) {
      throw new IllegalStateException("no node answers of " + nodes.all());
    }
    return views;
  }

  /** All that the nodes say and have said, for the message when something did not happen. */
  @Override
  public String toString() {
    return nodes.reachable().stream()
        .map(node -> node + ":\n" + node.command("CLUSTER", "NODES") + node.log())
        .collect(Collectors.joining("\n"));
  }
}
