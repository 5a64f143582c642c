package io.mortise.connection.topology;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import io.mortise.connection.pool.CommandException.Kind;
import io.mortise.connection.pool.Exchange;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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
 * <p><b>Who is believed.</b> The first node that answers, in random order, unless it says that it
 * cannot reach most masters, or knows only of an older epoch than the map that is known: so a
 * former master that was cut off does not turn the map back. An epoch that nobody has named for a
 * minute is forgotten, because a cluster that is made anew begins with 0.
 *
 * <p><b>Threads.</b> {@code map} and {@code sharded} are replaced under {@code asking}, by whoever
 * asks, and read without it. At most one worker asks in the background.
 */
final class SlotMapCache {
  private static final Logger LOG = LoggerFactory.getLogger(SlotMapCache.class);
  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long LEAST_SHARE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  static final long FORGET_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final Pattern STATE = Pattern.compile("(?m)^cluster_state:(\\w+)");
  private static final Pattern EPOCH = Pattern.compile("(?m)^cluster_current_epoch:(\\d+)");

  private final ClusterNodes nodes;
  private final WorkerPool workers;
  private final long forgetNanos;
  private final ReentrantLock asking = new ReentrantLock();

  /** How often it was wished since the last time that nobody was at it. */
  private final AtomicInteger refreshes = new AtomicInteger();

  private volatile @Nullable SlotMap map;
  private volatile boolean sharded;
  private volatile Runnable changed = () -> {};

  /** Whether {@link #sharded} is known. */
  @GuardedBy("asking")
  private boolean probed;

  /** When the map was last told. */
  @GuardedBy("asking")
  private long toldNanos = System.nanoTime();

  /**
   * @param forgetNanos after which an epoch that nobody names is forgotten
   */
  SlotMapCache(ClusterNodes nodes, WorkerPool workers, long forgetNanos) {
    this.nodes = nodes;
    this.workers = workers;
    this.forgetNanos = forgetNanos;
  }

  /** What to do when a slot has another master; to be set before the first use. */
  void onChange(Runnable action) {
    changed = action;
  }

  /** What was told last; null before the first time. */
  @Nullable SlotMap current() {
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

  /**
   * Asks for the map, one thread at a time.
   *
   * @param seen the map that the caller has found wrong: if there is another one by now, that
   */
  SlotMap fetchUnlessNewer(@Nullable SlotMap seen, long deadlineNanos) throws CommandException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          if (!asking.tryLock(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            throw notInTime();
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

  /** Each in turn, in random order, with an equal share of the time that is left. */
  @GuardedBy("asking")
  private SlotMap askAnyNode(long deadlineNanos) throws CommandException {
    CommandException last = null;
    List<HostAndPort> order = inRandomOrder();
    int others = order.size();
    for (HostAndPort address : order) {
      long left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        break;
      }
      try {
        long share = Math.min(left, Math.max(LEAST_SHARE_NANOS, left / others--));
        SlotMap told = askNode(address, share);
        install(told, deadlineNanos);
        return told;
      } catch (CommandException fault) {
        if (last != null) {
          fault.addSuppressed(last);
        }
        last = fault;
      }
    }
    throw last != null ? last : notInTime();
  }

  @GuardedBy("asking")
  private SlotMap askNode(HostAndPort address, long withinNanos) throws CommandException {
    long deadlineNanos = System.nanoTime() + withinNanos;
    RedisNode node = nodes.at(address);
    // The epoch first: a failover in between must not lend its epoch to the map before it.
    Object info = node.exchange(cluster("INFO"), withinNanos).value();
    String state = info instanceof byte[] text ? new String(text, UTF_8) : "";
    if (!find(STATE, state, "ok").equals("ok")) {
      throw notNow(address + " cannot reach most masters, or a slot has none");
    }
    long epoch = Long.parseLong(find(EPOCH, state, "0"));
    SlotMap known = map;
    if (known != null && epoch < known.epoch() && System.nanoTime() - toldNanos < forgetNanos) {
      throw notNow(address + " has not heard of the last failover yet");
    }
    long left = deadlineNanos - System.nanoTime();
    Object slots = node.exchange(cluster("SLOTS"), left).value();
    try {
      SlotMap told = SlotMap.of(slots, address, epoch);
      if (told.masters().isEmpty()) {
        throw notNow(address + " knows of no slots");
      }
      return told;
    } catch (RuntimeException odd) {
      throw new CommandException(Kind.NOT_READY, false, address + " cannot be understood", odd);
    }
  }

  private CommandException notInTime() {
    return new CommandException(Kind.UNREACHABLE, false, nodes + " did not answer in time", null);
  }

  private static CommandException notNow(String why) {
    return new CommandException(Kind.NOT_READY, false, why, null);
  }

  private static String find(Pattern pattern, String text, String otherwise) {
    Matcher line = pattern.matcher(text);
    return line.find() ? line.group(1) : otherwise;
  }

  private static Exchange cluster(String question) {
    return (connection, deadline) ->
        connection.executeCommand(new CommandArguments(Command.CLUSTER).add(question));
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

  @GuardedBy("asking")
  private void install(SlotMap told, long deadlineNanos) throws CommandException {
    if (!probed) {
      sharded = probe(told, deadlineNanos);
      probed = true;
    }
    SlotMap before = map;
    map = told;
    toldNanos = System.nanoTime();
    nodes.retain(told.nodes());
    if (before != null && !told.hasSameMasters(before)) {
      LOG.info("slots of the {} have other masters now: holds are verified", nodes);
      changed.run();
    }
  }

  /** Whether all masters that answer know SPUBLISH; asked once. */
  private boolean probe(SlotMap told, long deadlineNanos) throws CommandException {
    boolean all = true;
    int answers = 0;
    CommandException silent = null;
    for (HostAndPort master : told.masters()) {
      long left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        break;
      }
      try {
        all &=
            (Boolean) nodes.at(master).exchange(SlotMapCache::knowsShards, (left + 1) / 2).value();
        answers++;
      } catch (CommandException fault) {
        if (!fault.kind().isTransient()) {
          throw fault;
        }
        silent = fault;
      }
    }
    if (answers == 0) {
      throw silent != null ? silent : notInTime();
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

  /** Asks on a worker, if none is at it. */
  void refreshIfIdle() {
    if (refreshes.get() == 0) {
      refreshSoon();
    }
  }

  /** Asks on a worker; one that is at it already asks once more. */
  void refreshSoon() {
    if (refreshes.getAndIncrement() == 0) {
      try {
        workers.run(this::refreshUntilQuiet);
      } catch (OutOfMemoryError | StackOverflowError noThread) {
        refreshes.set(0);
        LOG.debug("the {} is looked at later", nodes, noThread);
      }
    }
  }

  private void refreshUntilQuiet() {
    boolean ended = false;
    try {
      int wished;
      do {
        wished = refreshes.get();
        refresh();
      } while (!refreshes.compareAndSet(wished, 0));
      ended = true;
    } finally {
      if (!ended) {
        refreshes.set(0); // an error must not be the last question
      }
    }
  }

  /** Asks now; what cannot be known stays as it was. */
  void refresh() {
    try {
      var unused = fetchUnlessNewer(map, System.nanoTime() + REFRESH_NANOS);
    } catch (CommandException nobodyAnswers) {
      LOG.debug("who has which slots is not known at the moment", nobodyAnswers);
    }
  }
}
