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
 * A Redis Cluster: each command goes to the master of its slot, on that node's own connections.
 *
 * <p>Jedis' cluster client would repeat a command whose answer is missing as often as it likes;
 * here it is sent again only when a node has said that it has not run it, or by the rules of {@link
 * RedisNode}. Who is the master of a slot, {@link SlotMapCache} knows.
 *
 * <pre>
 *   MOVED      the node that it names, at once; then ask for the map
 *   ASK        that node, this once, behind ASKING
 *   TRYAGAIN   the same again after a pause: keys of one slot are on their way
 *   broken     ask for the map; if another node has the slot now, that one
 * </pre>
 *
 * <p><b>Threads.</b> Nothing changes here; the map and the nodes are safe for all.
 */
final class ClusterTopology implements Topology {
  private static final int MOST_REDIRECTIONS = 8;
  private static final long TRY_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  /** With less time nobody is asked once more: no answer would be a fault of another kind. */
  private static final long LEAST_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final ClusterNodes nodes;
  private final SlotMapCache map;
  private final Topology.SubscriptionEndpoint anywhere = this::connectAnywhere;

  ClusterTopology(ClusterNodes nodes, WorkerPool workers) {
    this.nodes = nodes;
    this.map = new SlotMapCache(nodes, workers, SlotMapCache.FORGET_NANOS);
  }

  @Override
  public int slotOf(byte[] key) {
    return JedisClusterCRC16.getSlot(key);
  }

  @Override
  public Object serverOf(int slot) {
    HostAndPort master = map.masterOf(slot);
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
    Step step = new Step(nodeOf(slot, deadlineNanos), exchange);
    CommandException before = null;
    CommandException onTheWay = null;
    int redirections = 0;
    while (true) {
      try {
        long left = deadlineNanos - System.nanoTime();
        Reply reply =
            repeatable
                ? step.node.exchange(step.exchange, left)
                : step.node.exchangeAtMostOnce(step.exchange, left);
        return reply.after(before);
      } catch (CommandException fault) {
        before = before == null && fault.mayHaveExecuted() ? fault : before;
        Redirection redirection = Redirection.of(fault.getCause());
        if (redirection instanceof Redirection.TryAgain) {
          onTheWay = fault;
        }
        boolean goesOn = repeatable || before == null;
        Step next = goesOn ? next(step.node, slot, exchange, fault, deadlineNanos) : null;
        // Keys that are on their way end with the time.
        redirections = redirection instanceof Redirection.TryAgain ? 0 : redirections + 1;
        if (next == null
            || redirections > MOST_REDIRECTIONS
            || deadlineNanos - System.nanoTime() <= 0) {
          if (!goesOn) {
            map.refreshSoon();
          }
          // What has no answer because the time ended had one before.
          boolean late = fault.isTimeOut() && deadlineNanos - System.nanoTime() <= 0;
          CommandException why = late && onTheWay != null ? onTheWay : fault;
          throw givenUp(why, Redirection.of(why.getCause()), before);
        }
        step = next;
      }
    }
  }

  /** What is said next, and to whom. */
  private record Step(RedisNode node, Exchange exchange) {}

  /** Null when nobody else can be asked now. */
  private @Nullable Step next(
      RedisNode asked, int slot, Exchange exchange, CommandException fault, long deadlineNanos) {
    Redirection redirection = Redirection.of(fault.getCause());
    try {
      if (redirection instanceof Redirection.Moved moved) {
        map.refreshSoon();
        return new Step(nodes.at(moved.to(), asked), exchange);
      }
      if (redirection instanceof Redirection.Ask ask) {
        return new Step(nodes.at(ask.to(), asked), exchange.asking());
      }
      if (redirection != null) {
        long left = deadlineNanos - System.nanoTime();
        boolean last = left < TRY_AGAIN_NANOS + LEAST_NANOS;
        pause(last ? left : TRY_AGAIN_NANOS);
        return last ? null : new Step(nodeOf(slot, deadlineNanos), exchange);
      }
      if (fault.kind() == Kind.CLIENT_CLOSED && !nodes.isClosed()) {
        return new Step(nodeOf(slot, deadlineNanos), exchange); // that node was left behind
      }
      if (fault.isBrokenConnection()) {
        var unused = map.fetchUnlessNewer(map.current(), deadlineNanos);
        RedisNode now = nodeOf(slot, deadlineNanos);
        return now == asked ? null : new Step(now, exchange);
      }
    } catch (CommandException nobodyAnswers) {
      fault.addSuppressed(nobodyAnswers);
      return null;
    }
    if (fault.kind() == Kind.UNREACHABLE || fault.kind() == Kind.NOT_READY) {
      map.refreshSoon();
    }
    return null;
  }

  /** A short one; an interrupt does not end it, and stands afterwards. */
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

  /** A redirection that leads nowhere is no error of the script's: it passes. */
  private CommandException givenUp(
      CommandException fault,
      @Nullable Redirection redirection,
      @Nullable CommandException before) {
    Throwable said = fault.getCause();
    if (redirection == null || said == null) {
      return before != null ? fault.afterEarlier(before) : fault;
    }
    return new CommandException(
        Kind.NOT_READY,
        before != null,
        "the keys of the lock are on their way to another node of the %s (it says: %s)"
            .formatted(nodes, said.getMessage()),
        said);
  }

  private RedisNode nodeOf(int slot, long deadlineNanos) throws CommandException {
    SlotMap known = map.current();
    HostAndPort master = known == null ? null : known.masterOf(slot);
    if (master == null) {
      master = map.fetchUnlessNewer(known, deadlineNanos).masterOf(slot);
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
    return map.isSharded() ? SPUBLISH : PUBLISH;
  }

  @Override
  public boolean isSharded() {
    return map.isSharded();
  }

  @Override
  public Topology.@Nullable SubscriptionEndpoint endpointFor(String channel) {
    SlotMap known = map.current();
    if (known == null || !map.isSharded()) {
      return known == null ? null : anywhere;
    }
    HostAndPort master = known.masterOf(JedisClusterCRC16.getSlot(channel));
    return master == null ? null : nodes.at(master);
  }

  /** Without shards every node hears everything. */
  private Connection connectAnywhere() throws CommandException {
    SlotMap known = map.current();
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

  // ---- for the engine

  @Override
  public void refresh() {
    map.refresh();
  }

  @Override
  public void checkForFailover(boolean inUse) {
    if (inUse && map.current() != null) {
      map.refreshIfIdle();
    }
  }

  @Override
  public boolean canFailOver() {
    return true;
  }

  @Override
  public void onConnectionLost(Runnable action) {
    nodes.onBroken(action);
  }

  @Override
  public void onChange(Runnable action) {
    map.onChange(action);
  }

  @Override
  public Optional<String> clusterId() {
    if (map.current() == null) {
      map.refresh();
    }
    SlotMap known = map.current();
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
