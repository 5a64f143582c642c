package io.mortise.testkit;

import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Joins nodes that do not know each other yet into one cluster.
 *
 * <p><b>Threads.</b> Stateless; any thread may call it.
 */
final class ClusterFormation {
  private ClusterFormation() {}

  /**
   * Gives each master its share of the slots, in order, and its replicas.
   *
   * @param nodes the masters, and then the replicas of the first one, of the second one, and so on
   */
  static void form(List<RedisServer> nodes, int masters) {
    List<String> ids = nodes.stream().map(ClusterFormation::id).toList();
    for (int i = 0; i < nodes.size(); i++) {
      // Different from the start: otherwise the nodes have to resolve the conflict first.
      nodes.get(i).command("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
      if (i < masters) {
        assign(
            nodes.get(i), i * ClusterView.SLOTS / masters, (i + 1) * ClusterView.SLOTS / masters);
      }
      // All pairs: gossip takes seconds.
      for (RedisServer known : nodes.subList(0, i)) {
        nodes.get(i).command("CLUSTER", "MEET", known.host(), Integer.toString(known.clientPort()));
      }
    }
    Await.until(
        "all nodes know each other",
        () -> nodes.stream().allMatch(node -> known(node).equals(Set.copyOf(ids))),
        () -> nodes.stream().map(ClusterFormation::known).toList().toString());
    int replicas = nodes.size() / masters - 1;
    for (int i = masters; i < nodes.size(); i++) {
      nodes.get(i).command("CLUSTER", "REPLICATE", ids.get((i - masters) / replicas));
    }
  }

  static String id(RedisServer node) {
    return String.valueOf(Objects.requireNonNull(node.command("CLUSTER", "MYID")));
  }

  private static void assign(RedisServer master, int from, int to) {
    List<String> words = IntStream.range(from, to).mapToObj(Integer::toString).toList();
    String[] command = new String[words.size() + 2];
    command[0] = "CLUSTER";
    command[1] = "ADDSLOTS";
    System.arraycopy(words.toArray(), 0, command, 2, words.size());
    master.command(command);
  }

  private static Set<String> known(RedisServer node) {
    return ClusterView.of(node).members().stream()
        .map(ClusterView.Member::id)
        .collect(Collectors.toUnmodifiableSet());
  }
}
