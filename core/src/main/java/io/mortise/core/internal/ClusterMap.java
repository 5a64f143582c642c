package io.mortise.core.internal;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.core.LockException.Reason;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import redis.clients.jedis.CommandArguments;
import redis.clients.jedis.Connection;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.Protocol.Command;
import redis.clients.jedis.exceptions.JedisDataException;

/**
 * What is known of a cluster: which master has which slot, and whether channels have slots too.
 * Asked when it is first needed, again when an answer shows that it has changed, when a connection
 * breaks, and regularly while something is held.
 *
 * <p><b>Threads.</b> {@code map} and {@code sharded} are replaced under {@code asking}, by whoever
 * asks, and read without it. At most one worker asks in the background.
 */
final class ClusterMap {
  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long LEAST_SHARE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final ClusterNodes nodes;
  private final Workers workers;
  private final ReentrantLock asking = new ReentrantLock();

  /** How often it was wished since the last time that nobody was at it. */
  private final AtomicInteger refreshes = new AtomicInteger();

  private volatile @Nullable SlotMap map;
  private volatile boolean sharded;
  private volatile long askedNanos = System.nanoTime();
  private volatile Runnable changed = () -> {};

  /** Whether {@link #sharded} is known. */
  @GuardedBy("asking")
  private boolean probed;

  ClusterMap(ClusterNodes nodes, Workers workers) {
    this.nodes = nodes;
    this.workers = workers;
  }

  /** What to do when a slot has another master; to be set before the first use. */
  void onChange(Runnable action) {
    changed = action;
  }

  /** What was told last; null before the first time. */
  @Nullable SlotMap known() {
    return map;
  }

  /** The master of a slot, as far as it is known. */
  @Nullable HostAndPort masterOf(int slot) {
    SlotMap known = map;
    return known == null ? null : known.masterOf(slot);
  }

  /** Whether all masters know SPUBLISH. */
  boolean isSharded() {
    return sharded;
  }

  /** For how long nobody has asked. */
  long ageNanos() {
    return System.nanoTime() - askedNanos;
  }

  /**
   * Asks for the map, one thread at a time.
   *
   * @param seen the map that the caller has found wrong: if there is another one by now, that
   */
  SlotMap ask(@Nullable SlotMap seen, long deadlineNanos) throws Fault {
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
        Object answer = node.exchange(ClusterMap::slots, share).value();
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
        all &= (Boolean) nodes.at(master).exchange(ClusterMap::knowsShards, left).value();
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
  void refreshSoon() {
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

  /** Asks now; what cannot be known stays as it was. */
  void refresh() {
    try {
      var unused = ask(map, System.nanoTime() + REFRESH_NANOS);
    } catch (Fault nobodyAnswers) {
      Engine.LOG.debug("who has which slots is not known at the moment", nobodyAnswers);
    }
  }
}
