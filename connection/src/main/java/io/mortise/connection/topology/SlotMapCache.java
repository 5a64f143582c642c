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
 * Caches the slot map of a cluster, and whether its channels have slots too. The map is fetched
 * when it is first needed, again when an answer shows that it has changed, when a connection
 * breaks, and regularly while the client holds or waits for a lock.
 *
 * <p><b>Which answer counts.</b> The first node that answers counts, in random order, unless it
 * reports that it cannot reach most masters, or its epoch is older than that of the known map. So a
 * former master that was cut off does not turn the map back. An epoch that no node has reported for
 * a minute is ignored, because a cluster that is set up again begins with 0.
 *
 * <p><b>Threads.</b> Any thread may call every method. {@code map} and {@code sharded} are replaced
 * under {@code fetchLock}, by the fetching thread, and read without it. At most one worker fetches
 * in the background.
 */
final class SlotMapCache {
  private static final Logger LOG = LoggerFactory.getLogger(SlotMapCache.class);
  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long MIN_SHARE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  static final long FORGET_NANOS = TimeUnit.MINUTES.toNanos(1);
  private static final Pattern STATE = Pattern.compile("(?m)^cluster_state:(\\w+)");
  private static final Pattern EPOCH = Pattern.compile("(?m)^cluster_current_epoch:(\\d+)");

  private final ClusterNodes nodes;
  private final WorkerPool workers;
  private final long forgetNanos;
  private final ReentrantLock fetchLock = new ReentrantLock();

  /** The number of requests for a refresh since the last time that no worker was refreshing. */
  private final AtomicInteger refreshRequests = new AtomicInteger();

  private volatile @Nullable SlotMap map;
  private volatile boolean sharded;
  private volatile Runnable changeAction = () -> {};

  /** Whether {@link #sharded} is known. */
  @GuardedBy("fetchLock")
  private boolean shardingKnown;

  /** When the map was last fetched. */
  @GuardedBy("fetchLock")
  private long fetchedNanos = System.nanoTime();

  /**
   * @param forgetNanos the time after which an epoch that no node reports is ignored
   */
  SlotMapCache(ClusterNodes nodes, WorkerPool workers, long forgetNanos) {
    this.nodes = nodes;
    this.workers = workers;
    this.forgetNanos = forgetNanos;
  }

  /** Sets the action for a slot that has another master; called before the first use. */
  void onChange(Runnable action) {
    changeAction = action;
  }

  /** Returns the map that was fetched last; null before the first one. */
  @Nullable SlotMap current() {
    return map;
  }

  /** Returns the master of a slot, as far as it is known. */
  @Nullable HostAndPort masterOf(int slot) {
    SlotMap known = map;
    return known == null ? null : known.masterOf(slot);
  }

  /** Returns whether all masters know SPUBLISH. */
  boolean isSharded() {
    return sharded;
  }

  /**
   * Fetches the map, one thread at a time.
   *
   * @param seen the map that the caller has found wrong: if there is another one by now, that one
   *     is returned
   */
  SlotMap fetchUnlessNewer(@Nullable SlotMap seen, long deadlineNanos) throws CommandException {
    boolean interrupted = false;
    try {
      while (true) {
        try {
          if (!fetchLock.tryLock(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
            throw timeOut();
          }
          break;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      try {
        SlotMap now = map;
        return now != null && now != seen ? now : fetchFromAnyNode(deadlineNanos);
      } finally {
        fetchLock.unlock();
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Queries one node after the other, in random order, each with an equal share of the time. */
  @GuardedBy("fetchLock")
  private SlotMap fetchFromAnyNode(long deadlineNanos) throws CommandException {
    CommandException last = null;
    List<HostAndPort> order = inRandomOrder();
    int nodesLeft = order.size();
    for (HostAndPort address : order) {
      long left = deadlineNanos - System.nanoTime();
      if (left <= 0) {
        break;
      }
      try {
        long share = Math.min(left, Math.max(MIN_SHARE_NANOS, left / nodesLeft--));
        SlotMap fetched = fetchFrom(address, share);
        install(fetched, deadlineNanos);
        return fetched;
      } catch (CommandException fault) {
        if (last != null) {
          fault.addSuppressed(last);
        }
        last = fault;
      }
    }
    throw last != null ? last : timeOut();
  }

  @GuardedBy("fetchLock")
  private SlotMap fetchFrom(HostAndPort address, long withinNanos) throws CommandException {
    long deadlineNanos = System.nanoTime() + withinNanos;
    RedisNode node = nodes.at(address);
    // The epoch comes first: a failover in between must not lend its epoch to the former map.
    Object info = node.exchange(cluster("INFO"), withinNanos).value();
    String state = info instanceof byte[] text ? new String(text, UTF_8) : "";
    if (!find(STATE, state, "ok").equals("ok")) {
      throw notReady(address + " cannot reach most masters, or a slot has none");
    }
    long epoch = Long.parseLong(find(EPOCH, state, "0"));
    SlotMap known = map;
    if (known != null && epoch < known.epoch() && System.nanoTime() - fetchedNanos < forgetNanos) {
      throw notReady(address + " does not know the last failover yet");
    }
    long left = deadlineNanos - System.nanoTime();
    Object slots = node.exchange(cluster("SLOTS"), left).value();
    try {
      SlotMap fetched = SlotMap.of(slots, address, epoch);
      if (fetched.masters().isEmpty()) {
        throw notReady(address + " knows of no slots");
      }
      return fetched;
    } catch (RuntimeException odd) {
      throw new CommandException(
          Kind.NOT_READY, false, address + " gave an answer that cannot be read", odd);
    }
  }

  private CommandException timeOut() {
    return new CommandException(Kind.UNREACHABLE, false, nodes + " did not answer in time", null);
  }

  private static CommandException notReady(String why) {
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
    Set<HostAndPort> addresses = new LinkedHashSet<>(nodes.seeds());
    SlotMap known = map;
    if (known != null) {
      addresses.addAll(known.nodes());
    }
    List<HostAndPort> order = new ArrayList<>(addresses);
    Collections.shuffle(order);
    return order;
  }

  @GuardedBy("fetchLock")
  private void install(SlotMap fetched, long deadlineNanos) throws CommandException {
    if (!shardingKnown) {
      sharded = probeSharding(fetched, deadlineNanos);
      shardingKnown = true;
    }
    SlotMap before = map;
    map = fetched;
    fetchedNanos = System.nanoTime();
    nodes.retain(fetched.nodes());
    if (before != null && !fetched.hasSameMasters(before)) {
      LOG.info("slots of the {} have other masters now: holds are verified", nodes);
      changeAction.run();
    }
  }

  /** Returns whether all masters that answer know SPUBLISH; called until one has answered. */
  private boolean probeSharding(SlotMap fetched, long deadlineNanos) throws CommandException {
    boolean all = true;
    int answers = 0;
    CommandException unanswered = null;
    for (HostAndPort master : fetched.masters()) {
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
        unanswered = fault;
      }
    }
    if (answers == 0) {
      throw unanswered != null ? unanswered : timeOut();
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

  /** Refreshes on a worker, if none is refreshing. */
  void refreshIfIdle() {
    if (refreshRequests.get() == 0) {
      refreshSoon();
    }
  }

  /** Refreshes on a worker; one that is refreshing already does so once more. */
  void refreshSoon() {
    if (refreshRequests.getAndIncrement() == 0) {
      try {
        workers.run(this::refreshUntilQuiet);
      } catch (OutOfMemoryError | StackOverflowError noThread) {
        refreshRequests.set(0);
        LOG.debug("the slot map of the {} is fetched later", nodes, noThread);
      }
    }
  }

  private void refreshUntilQuiet() {
    boolean ended = false;
    try {
      int requested;
      do {
        requested = refreshRequests.get();
        refresh();
      } while (!refreshRequests.compareAndSet(requested, 0));
      ended = true;
    } finally {
      if (!ended) {
        refreshRequests.set(0); // an error must not prevent later refreshes
      }
    }
  }

  /** Fetches the map now; when no node answers, the map stays as it was. */
  void refresh() {
    try {
      var unused = fetchUnlessNewer(map, System.nanoTime() + REFRESH_NANOS);
    } catch (CommandException noNodeAnswers) {
      LOG.debug("the slot map cannot be fetched at the moment", noNodeAnswers);
    }
  }
}
