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
import java.util.concurrent.atomic.AtomicInteger;
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
 * asks, and read without it. At most one worker asks in the background.
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

  /** How often it was wished since the last time that nobody was at it. */
  private final AtomicInteger refreshes = new AtomicInteger();

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
    Step step = new Step(nodeOf(slot, deadlineNanos), exchange);
    Fault before = null;
    int redirections = 0;
    while (true) {
      try {
        long left = deadlineNanos - System.nanoTime();
        Reply reply =
            repeatable
                ? step.node.exchange(step.exchange, left)
                : step.node.exchangeOnce(step.exchange, left);
        return reply.after(before);
      } catch (Fault fault) {
        before = before == null && fault.mayHaveRun() ? fault : before;
        Redirection redirection = Redirection.of(fault.getCause());
        boolean goesOn = repeatable || before == null;
        Step next = goesOn ? next(step.node, slot, exchange, fault, deadlineNanos) : null;
        // Keys that are on their way end with the time.
        redirections = redirection instanceof Redirection.TryAgain ? 0 : redirections + 1;
        if (next == null
            || redirections > MOST_REDIRECTIONS
            || deadlineNanos - System.nanoTime() <= 0) {
          if (!goesOn) {
            refreshSoon();
          }
          throw givenUp(fault, redirection, before != null);
        }
        step = next;
      }
    }
  }

  /** What is said next, and to whom. */
  private record Step(RedisNode node, Exchange exchange) {}

  /** Null when nobody else can be asked now. */
  private @Nullable Step next(
      RedisNode asked, int slot, Exchange exchange, Fault fault, long deadlineNanos) {
    Redirection redirection = Redirection.of(fault.getCause());
    try {
      if (redirection instanceof Redirection.Moved moved) {
        refreshSoon();
        return new Step(nodes.at(moved.to(), asked), exchange);
      }
      if (redirection instanceof Redirection.Ask ask) {
        return new Step(nodes.at(ask.to(), asked), exchange.asking());
      }
      if (redirection != null) {
        pause(Math.min(TRY_AGAIN_NANOS, deadlineNanos - System.nanoTime()));
        return new Step(nodeOf(slot, deadlineNanos), exchange);
      }
      if (fault.reason() == Reason.CLIENT_CLOSED && !nodes.isClosed()) {
        return new Step(nodeOf(slot, deadlineNanos), exchange); // that node was left behind
      }
      if (fault.isBrokenConnection()) {
        ask(map, deadlineNanos);
        RedisNode now = nodeOf(slot, deadlineNanos);
        return now == asked ? null : new Step(now, exchange);
      }
    } catch (Fault nobodyAnswers) {
      fault.addSuppressed(nobodyAnswers);
      return null;
    }
    if (fault.reason() == Reason.UNREACHABLE || fault.reason() == Reason.NOT_READY) {
      refreshSoon();
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
  private Fault givenUp(Fault fault, @Nullable Redirection redirection, boolean mayHaveRun) {
    Throwable said = fault.getCause();
    if (redirection == null || said == null) {
      return mayHaveRun ? fault.mayHaveRunBefore() : fault;
    }
    return new Fault(
        Reason.NOT_READY,
        mayHaveRun,
        "the keys of the lock are on their way to another node of the %s (it says: %s)"
            .formatted(nodes, said.getMessage()),
        said);
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
        long left = Math.max(LEAST_SHARE_NANOS, (deadlineNanos - System.nanoTime()) / 2);
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

  /** Asks on a worker; one that is at it already asks once more. */
  private void refreshSoon() {
    if (refreshes.getAndIncrement() == 0) {
      try {
        workers.run(this::refreshAsWished);
      } catch (OutOfMemoryError noThread) {
        refreshes.set(0);
        Engine.LOG.debug("the {} is looked at later", nodes, noThread);
      }
    }
  }

  private void refreshAsWished() {
    int wished;
    do {
      wished = refreshes.get();
      try {
        refresh();
      } catch (RuntimeException odd) {
        Engine.LOG.error("what the {} says of itself cannot be understood", nodes, odd);
      }
    } while (!refreshes.compareAndSet(wished, 0));
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
