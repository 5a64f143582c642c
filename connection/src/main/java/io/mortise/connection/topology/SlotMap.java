package io.mortise.connection.topology;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.HostAndPort;

/**
 * The master of each slot of a cluster, as one of its nodes knew it at one moment.
 *
 * <p><b>Threads.</b> Any thread may read a map; it does not change after {@code of} has returned
 * it.
 */
final class SlotMap {
  static final int SLOTS = 16_384;
  private static final int FIRST_NODE_INDEX = 2;
  private static final int NODE_ID_INDEX = 2;

  private final @Nullable HostAndPort[] masters = new @Nullable HostAndPort[SLOTS];
  private final Set<HostAndPort> nodes = new LinkedHashSet<>();
  private final TreeSet<String> ids = new TreeSet<>();

  private final long epoch;

  private SlotMap(long epoch) {
    this.epoch = epoch;
  }

  /**
   * Reads the answer to CLUSTER SLOTS: ranges of slots, each with its master and its replicas.
   *
   * @param answeringNode the node that answered; a node that does not know its own address omits it
   * @param epoch the highest epoch that the node knew, see {@link #epoch}
   */
  static SlotMap of(Object answer, HostAndPort answeringNode, long epoch) {
    SlotMap map = new SlotMap(epoch);
    for (Object range : (List<?>) answer) {
      List<?> parts = (List<?>) range;
      HostAndPort master = null;
      for (Object part : parts.subList(FIRST_NODE_INDEX, parts.size())) {
        List<?> node = (List<?>) part;
        HostAndPort address = address(node, answeringNode);
        master = master == null ? address : master;
        map.nodes.add(address);
        map.ids.add(new String((byte[]) node.get(NODE_ID_INDEX), UTF_8));
      }
      int first = Math.toIntExact((Long) parts.get(0));
      int last = Math.toIntExact((Long) parts.get(1));
      Arrays.fill(map.masters, first, last + 1, master);
    }
    return map;
  }

  private static HostAndPort address(List<?> node, HostAndPort answeringNode) {
    String host = node.get(0) == null ? "" : new String((byte[]) node.get(0), UTF_8);
    int port = Math.toIntExact((Long) node.get(1));
    return new HostAndPort(isUnknown(host) ? answeringNode.getHost() : host, port);
  }

  /** Returns whether a node says by that host that it does not know the host of another one. */
  static boolean isUnknown(String host) {
    return host.isEmpty() || host.equals("?");
  }

  /** Returns the master of a slot; null when no node has the slot. */
  @Nullable HostAndPort masterOf(int slot) {
    return masters[slot];
  }

  /** Returns the masters that have slots. */
  Set<HostAndPort> masters() {
    Set<HostAndPort> distinct = new LinkedHashSet<>(Arrays.asList(masters));
    distinct.remove(null);
    return distinct;
  }

  /** Returns the masters and the replicas. */
  Set<HostAndPort> nodes() {
    return nodes;
  }

  /** Returns a number that each failover raises: a map with a lower epoch may be older. */
  long epoch() {
    return epoch;
  }

  /** Returns one of the permanent ids of the nodes; the same one for all clients. */
  Optional<String> id() {
    return ids.isEmpty() ? Optional.empty() : Optional.of(ids.first());
  }

  /**
   * Returns whether a slot has another master than in the former map, or has had one in between: a
   * failover and one back leave the master, which may have lost what it knew, and a higher epoch.
   */
  boolean isAfterFailover(SlotMap former) {
    return epoch > former.epoch || !Arrays.equals(masters, former.masters);
  }
}
