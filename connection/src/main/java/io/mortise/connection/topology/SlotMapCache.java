package io.mortise.connection.topology;

import static com.google.common.util.concurrent.Uninterruptibles.tryLockUninterruptibly;

import com.google.common.base.Ticker;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.connection.concurrent.CoalescedTask;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.CommandException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.HostAndPort;

/**
 * Caches the slot map of a cluster; a {@link ChannelSharding} learns whether its channels have
 * slots too. The map is fetched when it is first needed, again when an answer shows that it has
 * changed, when a connection breaks, and regularly while the client holds or waits for a lock.
 *
 * <p><b>Which answer counts.</b> The first node that answers counts, in random order, unless it
 * reports that it cannot reach most masters, or its epoch is older than that of the known map. So a
 * former master that was cut off does not turn the map back. An epoch that no node has reported for
 * a minute is ignored, because a cluster that is set up again begins with 0.
 *
 * <p><b>Threads.</b> Any thread may call every method. {@code map} is replaced under {@code
 * fetchLock}, by the fetching thread, and read without it. At most one worker fetches in the
 * background.
 */
final class SlotMapCache {
  private static final Logger LOG = LoggerFactory.getLogger(SlotMapCache.class);
  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(2);
  private static final long MIN_SHARE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  /** The time after which an epoch that no node reports is ignored. */
  static final long FORGET_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final ClusterNodes nodes;
  private final WorkerPool workers;
  private final Ticker ticker;
  private final Random random;
  private final ReentrantLock fetchLock = new ReentrantLock();
  private final ChannelSharding sharding;

  private final CoalescedTask refreshing;

  private volatile @Nullable SlotMap map;
  private volatile Runnable changeAction = () -> {};

  @GuardedBy("fetchLock")
  private long fetchedNanos;

  /** Whether the action has still to run. */
  private final AtomicBoolean changed = new AtomicBoolean();

  SlotMapCache(ClusterNodes nodes, WorkerPool workers, Ticker ticker, Random random) {
    this.nodes = nodes;
    this.workers = workers;
    this.ticker = ticker;
    this.random = random;
    this.sharding = new ChannelSharding(nodes, ticker);
    this.fetchedNanos = ticker.read();
    this.refreshing = new CoalescedTask(workers, this::refresh);
  }

  /**
   * Sets the action for a slot that has another master, and for channels that have slots from now
   * on or have none any more; called before the first use.
   */
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
    return sharding.isSharded();
  }

  /**
   * Fetches the map, one thread at a time.
   *
   * @param seen the map that the caller has found wrong: if there is another one by now, that one
   *     is returned
   */
  SlotMap fetchUnlessNewer(@Nullable SlotMap seen, Deadline deadline) throws CommandException {
    if (!tryLockUninterruptibly(fetchLock, deadline.leftNanos(), TimeUnit.NANOSECONDS)) {
      throw ClusterQueries.timeOut(nodes);
    }
    boolean interrupted = Thread.interrupted(); // the fetch goes on through it
    try {
      SlotMap now = map;
      return now != null && now != seen ? now : fetchFromAnyNode(deadline);
    } finally {
      fetchLock.unlock();
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Queries one node after the other, in random order, each with an equal share of the time.
   *
   * @throws CommandException if none answers; a transient one unless all refuse the question
   */
  @GuardedBy("fetchLock")
  private SlotMap fetchFromAnyNode(Deadline deadline) throws CommandException {
    CommandException last = null;
    List<HostAndPort> order = inRandomOrder();
    int nodesLeft = order.size();
    for (HostAndPort address : order) {
      long left = deadline.leftNanos();
      if (left <= 0) {
        break;
      }
      try {
        long shareNanos = Math.max(MIN_SHARE_NANOS, left / nodesLeft--);
        SlotMap fetched = fetchFrom(address, deadline.within(shareNanos));
        install(fetched, deadline);
        return fetched;
      } catch (CommandException fault) {
        if (last == null) {
          last = fault;
        } else if (last.kind().isTransient() && !fault.kind().isTransient()) {
          last.addSuppressed(fault); // the other node may answer the next time
        } else {
          fault.addSuppressed(last);
          last = fault;
        }
      }
    }
    throw last != null ? last : ClusterQueries.timeOut(nodes);
  }

  @GuardedBy("fetchLock")
  private SlotMap fetchFrom(HostAndPort address, Deadline deadline) throws CommandException {
    ClusterQueries queries = new ClusterQueries(nodes.at(address), deadline);
    // The epoch comes first: a failover in between must not lend its epoch to the former map.
    long epoch = queries.epoch();
    SlotMap known = map;
    if (known != null && epoch < known.epoch() && ticker.read() - fetchedNanos < FORGET_NANOS) {
      throw ClusterQueries.notReady(address + " does not know the last failover yet");
    }
    return queries.slots(address, epoch);
  }

  private List<HostAndPort> inRandomOrder() {
    Set<HostAndPort> addresses = new LinkedHashSet<>(nodes.seeds());
    SlotMap known = map;
    if (known != null) {
      addresses.addAll(known.nodes());
    }
    List<HostAndPort> order = new ArrayList<>(addresses);
    Collections.shuffle(order, random);
    return order;
  }

  @GuardedBy("fetchLock")
  private void install(SlotMap fetched, Deadline deadline) throws CommandException {
    sharding.learn(fetched.masters(), deadline);
    SlotMap before = map;
    boolean moved = before != null && fetched.isAfterFailover(before);
    if (moved) {
      changed.set(true); // first: after an error the next fetch reports it
    }
    map = fetched;
    if (moved) {
      changed.set(true); // again: another thread may have reported it while the former map counted
    }
    fetchedNanos = ticker.read();
    nodes.retain(fetched.nodes());
    reportChange();
    if (moved) { // on a worker: a log that blocks must not keep others from the map
      workers.tryRun(
          () -> LOG.info("slots of the {} have or had other masters: holds are verified", nodes));
    }
  }

  /** Runs the action if there was a change; after an error the next fetch repeats it. */
  private void reportChange() {
    if (changed.compareAndSet(true, false)) { // first: there may be another change meanwhile
      try {
        changeAction.run();
      } catch (RuntimeException | Error e) {
        changed.set(true);
        throw e;
      }
    }
  }

  void refreshIfIdle() {
    if (!refreshing.isRunning()) {
      refreshing.request();
    }
  }

  /** Refreshes on a worker; one that is refreshing already does so once more. */
  void refreshSoon() {
    refreshing.request();
  }

  /** Fetches the map now; when no node answers, the map stays as it was. */
  void refresh() {
    refresh(REFRESH_NANOS);
  }

  /** The same, for a caller who has that much time. */
  void refresh(long withinNanos) {
    Deadline deadline = Deadline.after(Math.min(REFRESH_NANOS, withinNanos), ticker);
    try {
      SlotMap fetched = fetchUnlessNewer(map, deadline);
      // Not while fetching: a thread whose connection broke waits for the map.
      boolean otherChannels = sharding.learnAgain(fetched.masters(), deadline);
      if (otherChannels) {
        changed.set(true);
      }
      reportChange();
      if (otherChannels) {
        LOG.info(
            "channels of the {} are {} from now on: waiters try again",
            nodes,
            sharding.isSharded() ? "sharded" : "not sharded");
      }
    } catch (CommandException noNodeAnswers) {
      LOG.debug("the slot map cannot be fetched at the moment", noNodeAnswers);
    }
  }
}
