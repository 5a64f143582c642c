package io.mortise.connection.topology;

import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Exchange;
import io.mortise.connection.pool.Reply;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * A Redis Cluster: sends each command to the master of its slot, on the connections to that node.
 *
 * <p>The cluster client of Jedis would repeat a command without an answer as often as it decides.
 * Here a command is sent again only when a node has answered that it has not run the command, or by
 * the rules of {@link RedisNode}. {@link SlotMapCache} knows the master of a slot.
 *
 * <pre>
 *   MOVED      send to the named node at once; then fetch the slot map
 *   ASK        send to the named node, this time only, behind ASKING
 *   TRYAGAIN   send again after a pause: the keys of the slot are moving
 *   broken     fetch the slot map; if another node has the slot now, send to that node
 * </pre>
 *
 * <p><b>Threads.</b> Any thread may call every method. Nothing changes here; the slot map and the
 * nodes are thread-safe.
 */
final class ClusterTopology implements Topology {
  private static final int MAX_REDIRECTIONS = 8;
  private static final long TRY_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /**
   * With less time a command is not sent again: a missing answer would be a failure of another
   * kind.
   */
  private static final long MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final ClusterNodes nodes;
  private final SlotMapCache slotMap;
  private final Topology.SubscriptionEndpoint anyNode = this::connectToAnyNode;

  ClusterTopology(ClusterNodes nodes, WorkerPool workers) {
    this.nodes = nodes;
    this.slotMap = new SlotMapCache(nodes, workers, SlotMapCache.FORGET_NANOS);
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
  public Reply exchange(int slot, Exchange exchange, long timeoutNanos) throws CommandException {
    return exchange(slot, exchange, timeoutNanos, true);
  }

  @Override
  public Reply exchangeAtMostOnce(int slot, Exchange exchange, long timeoutNanos)
      throws CommandException {
    return exchange(slot, exchange, timeoutNanos, false);
  }

  private Reply exchange(int slot, Exchange exchange, long timeoutNanos, boolean repeatable)
      throws CommandException {
    long deadlineNanos = System.nanoTime() + timeoutNanos;
    RoutedExchange current = new RoutedExchange(nodeOf(slot, deadlineNanos), exchange);
    CommandException before = null;
    CommandException migration = null;
    int redirections = 0;
    while (true) {
      try {
        long left = deadlineNanos - System.nanoTime();
        Reply reply =
            repeatable
                ? current.node.exchange(current.exchange, left)
                : current.node.exchangeAtMostOnce(current.exchange, left);
        return reply.after(before);
      } catch (CommandException fault) {
        before = before == null && fault.mayHaveExecuted() ? fault : before;
        Redirection redirection = Redirection.of(fault.getCause());
        if (redirection instanceof Redirection.TryAgain) {
          migration = fault;
        }
        boolean maySendAgain = repeatable || before == null;
        RoutedExchange next =
            maySendAgain ? next(current.node, slot, exchange, fault, deadlineNanos) : null;
        // The wait for moving keys ends with the time limit.
        redirections = redirection instanceof Redirection.TryAgain ? 0 : redirections + 1;
        if (next == null
            || redirections > MAX_REDIRECTIONS
            || deadlineNanos - System.nanoTime() <= 0) {
          if (!maySendAgain) {
            slotMap.refreshSoon();
          }
          // A command without an answer because the time ended had an answer before.
          boolean late = fault.isTimeOut() && deadlineNanos - System.nanoTime() <= 0;
          CommandException reported = late && migration != null ? migration : fault;
          throw failureOf(reported, Redirection.of(reported.getCause()), before);
        }
        current = next;
      }
    }
  }

  /** An exchange, and the node that it is sent to. */
  private record RoutedExchange(RedisNode node, Exchange exchange) {}

  /** Returns what to send next; null when no other node can run the exchange now. */
  private @Nullable RoutedExchange next(
      RedisNode current, int slot, Exchange exchange, CommandException fault, long deadlineNanos) {
    Redirection redirection = Redirection.of(fault.getCause());
    try {
      if (redirection instanceof Redirection.Moved moved) {
        slotMap.refreshSoon();
        return new RoutedExchange(nodes.at(moved.to(), current), exchange);
      }
      if (redirection instanceof Redirection.Ask ask) {
        return new RoutedExchange(nodes.at(ask.to(), current), exchange.asking());
      }
      if (redirection != null) {
        long left = deadlineNanos - System.nanoTime();
        boolean last = left < TRY_AGAIN_NANOS + MIN_NANOS;
        pause(last ? left : TRY_AGAIN_NANOS);
        return last ? null : new RoutedExchange(nodeOf(slot, deadlineNanos), exchange);
      }
      if (fault.kind() == Kind.CLIENT_CLOSED && !nodes.isClosed()) {
        return new RoutedExchange(
            nodeOf(slot, deadlineNanos), exchange); // that node has left the cluster
      }
      if (fault.isBrokenConnection()) {
        var unused = slotMap.fetchUnlessNewer(slotMap.current(), deadlineNanos);
        RedisNode now = nodeOf(slot, deadlineNanos);
        return now == current ? null : new RoutedExchange(now, exchange);
      }
    } catch (CommandException noNodeAnswers) {
      fault.addSuppressed(noNodeAnswers);
      return null;
    }
    if (fault.kind() == Kind.UNREACHABLE || fault.kind() == Kind.NOT_READY) {
      slotMap.refreshSoon();
    }
    return null;
  }

  /** Pauses; an interrupt does not end the pause, and its status is restored afterwards. */
  private void pause(long nanos) {
    long endNanos = System.nanoTime() + nanos;
    boolean interrupted = Thread.interrupted();
    for (long left = nanos; left > 0; left = endNanos - System.nanoTime()) {
      LockSupport.parkNanos(this, left);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Returns the failure to throw. A redirection that leads nowhere is no error of the script, but a
   * transient one.
   */
  private CommandException failureOf(
      CommandException fault,
      @Nullable Redirection redirection,
      @Nullable CommandException before) {
    Throwable refusal = fault.getCause();
    if (redirection == null || refusal == null) {
      return before != null ? fault.afterEarlier(before) : fault;
    }
    return new CommandException(
        Kind.NOT_READY,
        before != null,
        "the keys of the lock are on their way to another node of the %s (it says: %s)"
            .formatted(nodes, refusal.getMessage()),
        refusal);
  }

  private RedisNode nodeOf(int slot, long deadlineNanos) throws CommandException {
    SlotMap known = slotMap.current();
    HostAndPort master = known == null ? null : known.masterOf(slot);
    if (master == null) {
      master = slotMap.fetchUnlessNewer(known, deadlineNanos).masterOf(slot);
    }
    if (master == null) {
      throw new CommandException(
          Kind.NOT_READY, false, "no node of the %s has slot %d".formatted(nodes, slot), null);
    }
    return nodes.at(master);
  }

  @Override
  public boolean isRedirect(Object answer) {
    return Redirection.of(answer) != null;
  }

  // ---- publish and subscribe

  @Override
  public byte[] publishCommand() {
    return slotMap.isSharded() ? SPUBLISH : PUBLISH;
  }

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
    return master == null ? null : nodes.at(master);
  }

  /** Connects to any node: without sharded channels every node receives every message. */
  private Connection connectToAnyNode() throws CommandException {
    SlotMap known = slotMap.current();
    List<HostAndPort> masters = new ArrayList<>(known == null ? nodes.seeds() : known.masters());
    Collections.shuffle(masters);
    CommandException last = null;
    for (HostAndPort master : masters) {
      try {
        return nodes.at(master).connect();
      } catch (CommandException fault) {
        last = fault;
      }
    }
    throw last != null
        ? last
        : new CommandException(Kind.NOT_READY, false, nodes + " has no node", null);
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
  public void onChange(Runnable action) {
    slotMap.onChange(action);
  }

  @Override
  public Optional<String> clusterId() {
    if (slotMap.current() == null) {
      slotMap.refresh();
    }
    SlotMap known = slotMap.current();
    return known == null ? Optional.empty() : known.id();
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
