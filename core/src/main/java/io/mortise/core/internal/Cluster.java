package io.mortise.core.internal;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.core.LockException.Reason;
import io.mortise.core.internal.RedisNode.Exchange;
import io.mortise.core.internal.RedisNode.Reply;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;
import redis.clients.jedis.util.JedisClusterCRC16;

/**
 * A Redis Cluster: each command goes to the master of its slot, on that node's own connections.
 *
 * <p>Jedis' cluster client would repeat a command whose answer is missing as often as it likes;
 * here it is sent again only when a node has said that it has not run it, or by the rules of {@link
 * RedisNode}. Which master has which slot is asked once, and again when an answer shows that it has
 * changed, when a connection breaks, and regularly while something is held.
 *
 * <pre>
 *   MOVED      the node that it names, at once; then ask for the map
 *   ASK        that node, this once, behind ASKING
 *   TRYAGAIN   the same again after a pause: keys of one slot are on their way
 *   broken     ask for the map; if another node has the slot now, that one
 * </pre>
 *
 * <p><b>Threads.</b> {@code map} and {@code sharded} are replaced under {@code asking}, by whoever
 * asks, and read without it. Nothing else is shared.
 */
final class Cluster implements Deployment {
  private static final int MOST_REDIRECTIONS = 8;
  private static final long TRY_AGAIN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long LEAST_SHARE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final ClusterNodes nodes;
  private final Workers workers;
  private final long lookEveryNanos;
  private final ReentrantLock asking = new ReentrantLock();
  private final AtomicBoolean refreshing = new AtomicBoolean();
  private final Post anywhere = this::connectAnywhere;
  private volatile @Nullable SlotMap map;
  private volatile boolean sharded;
  private volatile long askedNanos = System.nanoTime();
  private volatile Runnable changed = () -> {};

  /** Whether {@link #sharded} is known. */
  @GuardedBy("asking")
  private boolean probed;

  /**
   * @param lookEveryNanos how often to ask for the map while something is held
   */
  Cluster(ClusterNodes nodes, Workers workers, long lookEveryNanos) {
    this.nodes = nodes;
    this.workers = workers;
    this.lookEveryNanos = lookEveryNanos;
  }

  @Override
  public int slotOf(byte[] key) {
    return JedisClusterCRC16.getSlot(key);
  }

  @Override
  public Object serverOf(int slot) {
    SlotMap known = map;
    HostAndPort master = known == null ? null : known.masterOf(slot);
    return master == null ? this : master;
  }

  // ---- exchanges

  @Override
  public Reply exchange(int slot, Exchange exchange, long timeoutNanos) throws Fault {
    return exchange(slot, exchange, timeoutNanos, true);
  }

  @Override
  public Reply exchangeOnce(int slot, Exchange exchange, long timeoutNanos) throws Fault {
    return exchange(slot, exchange, timeoutNanos, false);
  }

  private Reply exchange(int slot, Exchange exchange, long timeoutNanos, boolean repeatable)
      throws Fault {
    long deadlineNanos = System.nanoTime() + timeoutNanos;
    RedisNode node = nodeOf(slot, deadlineNanos);
    Exchange asked = exchange;
    boolean mayHaveRun = false;
    int redirections = 0;
    while (true) {
      try {
        long left = deadlineNanos - System.nanoTime();
        Reply reply = repeatable ? node.exchange(asked, left) : node.exchangeOnce(asked, left);
        return new Reply(reply.value(), reply.repeated() || mayHaveRun);
      } catch (Fault fault) {
        mayHaveRun |= fault.mayHaveRun();
        asked = exchange;
        Redirection redirection = Redirection.of(fault.getCause());
        boolean mayRepeat = repeatable || !mayHaveRun;
        RedisNode next = null;
        if (!mayRepeat) {
          refreshSoon();
        } else if (redirection instanceof Redirection.Moved moved) {
          refreshSoon();
          next = nodes.at(moved.to());
        } else if (redirection instanceof Redirection.Ask ask) {
          next = nodes.at(ask.to());
          asked = behindAsking(exchange);
        } else if (redirection != null) {
          LockSupport.parkNanos(this, TRY_AGAIN_NANOS);
          next = nodeOf(slot, deadlineNanos);
          redirections--; // it ends with the time
        } else if (fault.reason() == Reason.UNREACHABLE) {
          next = nodeInstead(node, slot, fault, deadlineNanos);
        }
        if (next == null
            || ++redirections > MOST_REDIRECTIONS
            || deadlineNanos - System.nanoTime() <= 0) {
          throw mayHaveRun ? fault.mayHaveRunBefore() : fault;
        }
        node = next;
      }
    }
  }

  private static Exchange behindAsking(Exchange exchange) {
    return (connection, deadlineNanos) -> {
      connection.executeCommand(new CommandArguments(Command.ASKING));
      return exchange.on(connection, deadlineNanos);
    };
  }

  private RedisNode nodeOf(int slot, long deadlineNanos) throws Fault {
    SlotMap known = map;
    HostAndPort master = known == null ? null : known.masterOf(slot);
    if (master == null) {
      known = ask(known, deadlineNanos);
      master = known.masterOf(slot);
    }
    if (master == null) {
      throw new Fault(
          Reason.NOT_READY, false, "no node of the %s has slot %d".formatted(nodes, slot), null);
    }
    return nodes.at(master);
  }

  /** Who has the slot after its node has failed; null when nobody else has it yet. */
  private @Nullable RedisNode nodeInstead(
      RedisNode failed, int slot, Fault fault, long deadlineNanos) throws Fault {
    if (!fault.isBrokenConnection()) {
      refreshSoon();
      return null;
    }
    try {
      ask(map, deadlineNanos);
    } catch (Fault nobodyAnswers) {
      fault.addSuppressed(nobodyAnswers);
      return null;
    }
    RedisNode now = nodeOf(slot, deadlineNanos);
    return now == failed ? null : now;
  }

  @Override
  public boolean isElsewhere(Object answer) {
    return Redirection.of(answer) != null;
  }

  // ---- the map

  /**
   * Asks for the map, one thread at a time.
   *
   * @param seen the map that the caller has found wrong: if there is another one by now, that
   */
  private SlotMap ask(@Nullable SlotMap seen, long deadlineNanos) throws Fault {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          if (!asking.tryLock(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            throw new Fault(Reason.UNREACHABLE, false, nodes + " did not answer in time", null);
          }
          break;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      try {
        SlotMap now = map;
        return now != null && now != seen ? now : askAnyNode(deadlineNanos);
      } finally {
        asking.unlock();
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Each in turn, in random order, with half of the time that is left. */
  @GuardedBy("asking")
  private SlotMap askAnyNode(long deadlineNanos) throws Fault {
    Fault last = null;
    for (HostAndPort address : inRandomOrder()) {
      long left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        break;
      }
      try {
        RedisNode node = nodes.at(address);
        long share = Math.min(left, Math.max(LEAST_SHARE_NANOS, left / 2));
        Object answer = node.exchange(Cluster::slots, share).value();
        SlotMap told = SlotMap.of(answer, address);
        if (told.masters().isEmpty()) {
          throw new Fault(Reason.NOT_READY, false, address + " knows of no slots", null);
        }
        take(told, deadlineNanos);
        return told;
      } catch (Fault fault) {
        if (last != null) {
          fault.addSuppressed(last);
        }
        last = fault;
      }
    }
    throw last != null
        ? last
        : new Fault(Reason.UNREACHABLE, false, nodes + " did not answer in time", null);
  }

  private List<HostAndPort> inRandomOrder() {
    Set<HostAndPort> some = new LinkedHashSet<>(nodes.seeds());
    SlotMap known = map;
    if (known != null) {
      some.addAll(known.nodes());
    }
    List<HostAndPort> order = new ArrayList<>(some);
    Collections.shuffle(order);
    return order;
  }

  private static Object slots(Connection connection, long deadlineNanos) {
    return connection.executeCommand(new CommandArguments(Command.CLUSTER).add("SLOTS"));
  }

  @GuardedBy("asking")
  private void take(SlotMap told, long deadlineNanos) throws Fault {
    if (!probed) {
      sharded = probe(told, deadlineNanos);
      probed = true;
    }
    SlotMap before = map;
    map = told;
    askedNanos = System.nanoTime();
    nodes.retain(told.nodes());
    if (before != null && !told.hasSameMasters(before)) {
      Engine.LOG.info("slots of the {} have other masters now: holds are verified", nodes);
      changed.run();
    }
  }

  /** Whether all masters that answer know SPUBLISH; asked once. */
  private boolean probe(SlotMap told, long deadlineNanos) throws Fault {
    boolean all = true;
    int answers = 0;
    Fault silent = null;
    for (HostAndPort master : told.masters()) {
      try {
        long left = Math.max(LEAST_SHARE_NANOS, deadlineNanos - System.nanoTime());
        all &= (Boolean) nodes.at(master).exchange(Cluster::knowsShards, left).value();
        answers++;
      } catch (Fault fault) {
        if (!fault.reason().mayPass()) {
          throw fault;
        }
        silent = fault;
      }
    }
    if (answers == 0 && silent != null) {
      throw silent;
    }
    return all;
  }

  private static Object knowsShards(Connection connection, long deadlineNanos) {
    try {
      connection.executeCommand(new CommandArguments(Command.PUBSUB).add("SHARDNUMSUB"));
      return true;
    } catch (JedisDataException refusal) {
      if (String.valueOf(refusal.getMessage()).startsWith("ERR")) {
        return false; // Redis before 7
      }
      throw refusal;
    }
  }

  /** Asks on a worker, unless somebody is at it. */
  private void refreshSoon() {
    if (refreshing.compareAndSet(false, true)) {
      try {
        workers.run(
            () -> {
              refreshing.set(false);
              refresh();
            });
      } catch (OutOfMemoryError noThread) {
        refreshing.set(false);
        Engine.LOG.debug("the {} is looked at later", nodes, noThread);
      }
    }
  }

  @Override
  public void refresh() {
    try {
      ask(map, System.nanoTime() + REFRESH_NANOS);
    } catch (Fault nobodyAnswers) {
      Engine.LOG.debug("who has which slots is not known at the moment", nobodyAnswers);
    }
  }

  @Override
  public void look(boolean inUse) {
    if (inUse && map != null && System.nanoTime() - askedNanos > lookEveryNanos) {
      refreshSoon();
    }
  }

  @Override
  public boolean mayChange() {
    return true;
  }

  // ---- publish and subscribe

  @Override
  public byte[] publishCommand() {
    return sharded ? Request.SPUBLISH : Request.PUBLISH;
  }

  @Override
  public boolean isSharded() {
    return sharded;
  }

  @Override
  public @Nullable Post postOf(String channel) {
    SlotMap known = map;
    if (known == null || !sharded) {
      return known == null ? null : anywhere;
    }
    HostAndPort master = known.masterOf(JedisClusterCRC16.getSlot(channel));
    return master == null ? null : nodes.at(master);
  }

  /** Without shards every node hears everything. */
  private Connection connectAnywhere() throws Fault {
    SlotMap known = map;
    List<HostAndPort> masters = new ArrayList<>(known == null ? nodes.seeds() : known.masters());
    Collections.shuffle(masters);
    Fault last = null;
    for (HostAndPort master : masters) {
      try {
        return nodes.at(master).connect();
      } catch (Fault fault) {
        last = fault;
      }
    }
    throw last != null ? last : new Fault(Reason.NOT_READY, false, nodes + " has no node", null);
  }

  // ---- for the engine

  @Override
  public void onBroken(Runnable action) {
    nodes.onBroken(action);
  }

  @Override
  public void onChange(Runnable action) {
    changed = action;
  }

  @Override
  public Optional<String> clusterId() {
    if (map == null) {
      refresh();
    }
    SlotMap known = map;
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
