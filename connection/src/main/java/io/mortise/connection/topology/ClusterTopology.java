package io.mortise.connection.topology;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.Reply;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * A Redis Cluster. The {@link SlotMapCache} knows the master of each slot, the {@link
 * ClusterRouter} sends the exchanges there, and {@link ClusterNodes} has the connections.
 *
 * <p><b>Threads.</b> Any thread may call every method. Nothing changes here; the slot map and the
 * nodes are thread-safe.
 */
final class ClusterTopology implements Topology {
  private final ClusterNodes nodes;
  private final Random random;
  private final SlotMapCache slotMap;
  private final ClusterRouter router;
  private final Topology.SubscriptionEndpoint anyNode = this::connectToAnyNode;

  ClusterTopology(ClusterNodes nodes, WorkerPool workers, Ticker ticker, Random random) {
    this.nodes = nodes;
    this.random = random;
    this.slotMap = new SlotMapCache(nodes, workers, ticker, random);
    this.router = new ClusterRouter(nodes, slotMap);
  }

  @Override
  public int slotOf(byte[] key) {
    return JedisClusterCRC16.getSlot(key);
  }

  @Override
  public Object serverOf(int slot) {
    HostAndPort master = slotMap.masterOf(slot);
    return master == null ? this : master;
  }

  // ---- exchanges

  @Override
  public Reply exchange(int slot, Exchange exchange, Deadline deadline) throws CommandException {
    return router.exchange(slot, exchange, deadline, true);
  }

  @Override
  public Reply exchangeAtMostOnce(int slot, Exchange exchange, Deadline deadline)
      throws CommandException {
    return router.exchange(slot, exchange, deadline, false);
  }

  @Override
  public boolean isRedirect(Object answer) {
    return Redirection.of(answer) != null;
  }

  // ---- publish and subscribe

  @Override
  public boolean isSharded() {
    return slotMap.isSharded();
  }

  @Override
  public Topology.@Nullable SubscriptionEndpoint endpointFor(String channel) {
    SlotMap known = slotMap.current();
    if (known == null || !slotMap.isSharded()) {
      return known == null ? null : anyNode;
    }
    HostAndPort master = known.masterOf(JedisClusterCRC16.getSlot(channel));
    return master == null ? null : new ShardedEndpoint(nodes.at(master));
  }

  /**
   * A node at which the channels of its slots are subscribed. A key of maps; so it has methods of
   * its own, as {@code LockIdentity} of core has: those that a record gets are made of method
   * handles, of which JDK 17 keeps the last types, and with them the class loader of an
   * application.
   */
  private record ShardedEndpoint(RedisNode node) implements Topology.SubscriptionEndpoint {
    @Override
    public boolean equals(@Nullable Object other) {
      return other instanceof ShardedEndpoint endpoint && node.equals(endpoint.node);
    }

    @Override
    public int hashCode() {
      return node.hashCode();
    }

    @Override
    public Connection connect(Deadline deadline) throws CommandException {
      return node.connect(deadline);
    }

    @Override
    public boolean isSharded() {
      return true;
    }

    @Override
    public String toString() {
      return node.toString();
    }
  }

  /**
   * Connects to any node: without sharded channels every node receives every message. Those whose
   * last command had no reply come last. The time until the deadline is that of each node, so that
   * one that is dead does not cost the others theirs.
   */
  private Connection connectToAnyNode(Deadline deadline) throws CommandException {
    SlotMap known = slotMap.current();
    List<HostAndPort> masters = new ArrayList<>(known == null ? nodes.seeds() : known.masters());
    Collections.shuffle(masters, random);
    long nodeNanos = deadline.leftNanos();
    CommandException last = null;
    for (RedisNode node : reachableFirst(masters)) {
      try {
        return node.connect(Deadline.after(nodeNanos, deadline.ticker()));
      } catch (CommandException fault) {
        last = fault;
      }
    }
    throw last != null
        ? last
        : new CommandException(Kind.NOT_READY, false, nodes + " has no node", null);
  }

  private List<RedisNode> reachableFirst(List<HostAndPort> addresses) {
    List<RedisNode> order = new ArrayList<>();
    List<RedisNode> unreachable = new ArrayList<>();
    for (HostAndPort address : addresses) {
      RedisNode node = nodes.at(address);
      (node.isUnreachable() ? unreachable : order).add(node);
    }
    order.addAll(unreachable);
    return order;
  }

  // ---- changes of the cluster

  @Override
  public void refresh() {
    slotMap.refresh();
  }

  @Override
  public void checkForFailover(boolean inUse) {
    if (inUse && slotMap.current() != null) {
      slotMap.refreshIfIdle();
    }
  }

  @Override
  public boolean canFailOver() {
    return true;
  }

  @Override
  public void onConnectionLost(Runnable action) {
    nodes.onConnectionLost(action);
  }

  @Override
  public void onReachabilityChange(Topology.ReachabilityObserver observer) {
    nodes.onReachabilityChange(observer);
  }

  @Override
  public void onChange(Runnable action) {
    slotMap.onChange(action);
  }

  @Override
  public Optional<String> clusterId(long withinNanos) {
    if (slotMap.current() == null && withinNanos > 0) {
      slotMap.refresh(withinNanos);
    }
    SlotMap known = slotMap.current();
    return known == null ? Optional.empty() : known.id();
  }

  @Override
  public List<Topology.Server> servers() {
    SlotMap known = slotMap.current();
    Collection<HostAndPort> addresses = known == null ? nodes.seeds() : known.masters();
    return addresses.stream()
        .sorted(Comparator.comparing(HostAndPort::toString))
        .<Topology.Server>map(nodes::at)
        .toList();
  }

  @Override
  public boolean knowsAllServers() {
    return slotMap.current() != null;
  }

  @Override
  public boolean hasSlot(Topology.Server server, int slot) {
    HostAndPort master = slotMap.masterOf(slot);
    return master != null && nodes.at(master) == server;
  }

  @Override
  public int unreachableServers() {
    return nodes.unreachable();
  }

  @Override
  public int connectionsInUse() {
    return nodes.connectionsInUse();
  }

  @Override
  public void close() {
    nodes.close();
  }

  @Override
  public String toString() {
    return nodes.toString();
  }
}
