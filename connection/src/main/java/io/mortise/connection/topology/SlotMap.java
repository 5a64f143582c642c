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

/** Which master of a cluster has which slot, as one of its nodes has told at one moment. */
public final class SlotMap {
  public static final int SLOTS = 16_384;
  private static final int FIRST_NODE_AT = 2;
  private static final int NODE_ID_AT = 2;

  private final @Nullable HostAndPort[] masters = new @Nullable HostAndPort[SLOTS];
  private final Set<HostAndPort> all = new LinkedHashSet<>();
  private final TreeSet<String> ids = new TreeSet<>();

  private final long epoch;

  private SlotMap(long epoch) {
    this.epoch = epoch;
  }

  /**
   * Reads the answer to CLUSTER SLOTS: ranges of slots, each with its master and its replicas.
   *
   * @param asked the node that answered; one that does not know its own address leaves it out
   * @param epoch the highest that the node knew of, see {@link #epoch}
   */
  static SlotMap of(Object answer, HostAndPort asked, long epoch) {
    SlotMap map = new SlotMap(epoch);
    for (Object range : (List<?>) answer) {
      List<?> parts = (List<?>) range;
      HostAndPort master = null;
      for (Object part : parts.subList(FIRST_NODE_AT, parts.size())) {
        List<?> node = (List<?>) part;
        HostAndPort address = address(node, asked);
        master = master == null ? address : master;
        map.all.add(address);
        map.ids.add(new String((byte[]) node.get(NODE_ID_AT), UTF_8));
      }
      int first = Math.toIntExact((Long) parts.get(0));
      int last = Math.toIntExact((Long) parts.get(1));
      Arrays.fill(map.masters, first, last + 1, master);
    }
    return map;
  }

  private static HostAndPort address(List<?> node, HostAndPort asked) {
    String host = node.get(0) == null ? "" : new String((byte[]) node.get(0), UTF_8);
    int port = Math.toIntExact((Long) node.get(1));
    return new HostAndPort(host.isEmpty() || host.equals("?") ? asked.getHost() : host, port);
  }

  /** Null when no node has the slot. */
  @Nullable HostAndPort masterOf(int slot) {
    return masters[slot];
  }

  /** Masters that have slots. */
  Set<HostAndPort> masters() {
    Set<HostAndPort> some = new LinkedHashSet<>(Arrays.asList(masters));
    some.remove(null);
    return some;
  }

  /** Masters and replicas. */
  Set<HostAndPort> nodes() {
    return all;
  }

  /** A number that each failover raises: a map with a lower one may be older. */
  long epoch() {
    return epoch;
  }

  /** One of the ids that its nodes keep as long as they live; the same for all who ask. */
  Optional<String> id() {
    return ids.isEmpty() ? Optional.empty() : Optional.of(ids.first());
  }

  /** Whether every slot has the same master in both. */
  boolean hasSameMasters(@Nullable SlotMap other) {
    return other != null && Arrays.equals(masters, other.masters);
  }
}
