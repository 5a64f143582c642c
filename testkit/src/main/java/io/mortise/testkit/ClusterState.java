package io.mortise.testkit;

import io.mortise.testkit.ClusterView.Member;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * The state of a cluster by all nodes that answer, which are asked again each time.
 *
 * <p><b>Threads.</b> Any thread may call it; it keeps no answer.
 */
final class ClusterState {
  private final DataNodes nodes;

  ClusterState(DataNodes nodes) {
    this.nodes = nodes;
  }

  static int slot(String key) {
    return JedisClusterCRC16.getSlot(Objects.requireNonNull(key, "key"));
  }

  /** The masters with slots, those included that do not answer. */
  List<RedisServer> masters() {
    return views().get(0).members().stream()
        .filter(member -> !member.slots().isEmpty())
        .map(member -> nodes.byPort(member.port()))
        .toList();
  }

  RedisServer masterOf(String key) {
    return nodes.byPort(owner(key, views()).port());
  }

  /** The replicas by the nodes that know the master of the slot. */
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

  /** The replicas by that master itself. */
  List<RedisServer> replicasOf(RedisServer master) {
    return ClusterView.of(master).replicasOf(ClusterFormation.id(master)).stream()
        .map(replica -> nodes.byPort(replica.port()))
        .toList();
  }

  /** Whether all nodes agree on masters, replicas and slots. */
  boolean isAgreed() {
    return views().stream().map(ClusterView::shape).distinct().count() == 1;
  }

  /** Whether also each slot has a node that answers, and all nodes report state {@code ok}. */
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

  /** Whether all nodes agree, and that node is a master for them. */
  boolean isMasterForAll(RedisServer node) {
    return isAgreed()
        && views().get(0).members().stream()
            .filter(member -> member.port() == node.port())
            .allMatch(Member::isMaster);
  }

  /** The last master of that node; the node itself if it is a master. */
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

  /** The views and logs of all nodes, for the message of a wait that has timed out. */
  @Override
  public String toString() {
    return nodes.reachable().stream()
        .map(node -> node + ":\n" + node.command("CLUSTER", "NODES") + node.log())
        .collect(Collectors.joining("\n"));
  }
}
