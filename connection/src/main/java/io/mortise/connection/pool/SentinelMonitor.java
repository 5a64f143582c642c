package io.mortise.connection.pool;

import com.google.common.base.Ticker;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.connection.concurrent.Deadline;
import io.mortise.connection.concurrent.OomSafeLock;
import io.mortise.connection.concurrent.RepeatedFailureLog;
import io.mortise.connection.concurrent.Signal;
import io.mortise.connection.concurrent.WorkerPool;
import io.mortise.connection.pool.SentinelConnection.MasterReport;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisConnectionException;
import redis.clients.jedis.exceptions.JedisException;

/**
 * Polls the sentinels for the address of the master. A subscription would not do, because one whose
 * connection is half-open is silent for ever. All sentinels are queried at the same time, again and
 * again; after a query without an answer in time the next one goes over a new connection.
 *
 * <p><b>Which report counts.</b> Each failover has an epoch, higher than all before. The last
 * report of each sentinel counts, also while the sentinel cannot be reached, and of all reports the
 * one with the highest epoch. So a sentinel that is cut off from the others together with a former
 * master does not turn the client back to that master. A report that was not repeated for a minute
 * is ignored while more than half of the sentinels report: sentinels that are set up again begin
 * with epoch 0. The first report does not count before more than half of the sentinels have
 * reported, or no query is pending, or half of the caller's time is over.
 *
 * <p><b>Threads.</b> Any thread may call every public method. {@code lock} guards the reports, and
 * is not held during a query. One thread at a time queries a sentinel, and then stores the report,
 * or the failure, under the lock. Callers wait for the first report until their own deadlines.
 */
public final class SentinelMonitor implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SentinelMonitor.class);

  /** The time after which a report that is not repeated is ignored. */
  public static final long FORGET_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final String masterName;
  private final List<MonitoredSentinel> sentinels = new ArrayList<>();
  private final ExecutorService threads;
  private final Ticker ticker;
  private final ReentrantLock lock = new OomSafeLock();
  private final Signal reported = new Signal();
  private volatile BiConsumer<HostAndPort, HostAndPort> changeAction = (former, now) -> {};

  /** The report that counts; null before the first one does. */
  private volatile @Nullable MasterReport current;

  /** The report that the change action was last called for; null before the first one counts. */
  private volatile @Nullable MasterReport announced;

  private volatile boolean closed;
  private final RepeatedFailureLog changeFailures;

  /** Whether the log says that no sentinel answers. */
  @GuardedBy("lock")
  private boolean outageLogged;

  public SentinelMonitor(
      String masterName,
      Collection<SentinelConnection> sentinels,
      ThreadFactory threads,
      Ticker ticker) {
    this.masterName = masterName;
    this.ticker = ticker;
    this.changeFailures =
        new RepeatedFailureLog(LOG, "the action for a failover of '" + masterName + "' failed");
    sentinels.forEach(sentinel -> this.sentinels.add(new MonitoredSentinel(sentinel)));
    this.threads = WorkerPool.cached(threads); // one query for each sentinel at a time
  }

  /**
   * Sets the action for a failover; it gets the former and the new master, on a thread of this
   * monitor: the same server twice after a failover and one back. Called before the first use.
   */
  void onChange(BiConsumer<HostAndPort, HostAndPort> action) {
    changeAction = action;
  }

  /** Returns the known master; null before the first report counts. */
  public @Nullable HostAndPort known() {
    MasterReport report = current;
    return report == null ? null : report.master();
  }

  /** Returns the master; queries the sentinels only if it is not known yet. */
  public HostAndPort master(Deadline deadline) throws InterruptedException {
    HostAndPort known = known();
    return known != null ? known : firstMaster(deadline);
  }

  private HostAndPort firstMaster(Deadline deadline) throws InterruptedException {
    long half = deadline.leftNanos() / 2;
    boolean queried = false;
    while (true) {
      long seen = reported.generation();
      long left = deadline.leftNanos();
      HostAndPort known = knownOrAsk(left, left <= half, queried);
      if (known != null) {
        return known;
      }
      queried = true; // also if another thread has queried: its result serves too
      reported.await(seen, left > half ? left - half : left);
    }
  }

  /** Returns the master; if it is not known yet, makes sure that a query is pending. */
  private @Nullable HostAndPort knownOrAsk(long leftNanos, boolean anyReportCounts, boolean queried)
      throws InterruptedException {
    lock.lockInterruptibly();
    try {
      if (closed) {
        throw new JedisConnectionException("the client was closed");
      }
      if (anyReportCounts) {
        updateMaster();
      }
      HostAndPort known = known();
      if (known != null) {
        return known;
      }
      if (leftNanos <= 0) {
        throw new JedisConnectionException(
            "the sentinels have not said in time where '" + masterName + "' is",
            new TimeoutException());
      }
      if (count(each -> each.queryPending) == 0) {
        if (queried) {
          throw noReport();
        }
        ask();
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  /** Returns the failure of the queries. It is no transient one if all sentinels refuse. */
  @GuardedBy("lock")
  private JedisException noReport() {
    Throwable first = sentinels.get(0).failure;
    if (first instanceof JedisException refusal
        && count(each -> !ErrorClassifier.isRefusal(each.failure)) == 0) {
      return refusal;
    }
    return new JedisConnectionException(
        "none of the sentinels says where '" + masterName + "' is: " + failures(), first);
  }

  /** Queries the sentinels without a pending query; does not wait for the answers. */
  public void ask() {
    lock.lock();
    try {
      for (MonitoredSentinel each : sentinels) {
        if (!each.queryPending && !closed) {
          each.queryPending = true;
          try {
            threads.execute(() -> query(each));
          } catch (RejectedExecutionException | OutOfMemoryError | StackOverflowError noThread) {
            each.queryPending = false;
            each.failure = noThread;
            reported.fire();
          }
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void query(MonitoredSentinel one) {
    MasterReport report = null;
    Throwable failure = null;
    try {
      report = one.sentinel.queryMaster(masterName);
    } catch (Throwable e) { // an error too: the next query may be answered
      failure = e;
    }
    MasterReport former;
    MasterReport now;
    lock.lock();
    try {
      one.queryPending = false;
      if (report != null) {
        one.report = report;
        one.reportNanos = ticker.read();
      }
      one.failure = failure;
      former = announced == null ? current : announced;
      if (former != null
          || 2 * count(each -> each.report != null) > sentinels.size()
          || count(each -> each.queryPending) == 0) {
        updateMaster();
      }
      now = current;
      announced = now;
      if (closed) {
        one.sentinel.disconnect();
      }
    } finally {
      lock.unlock();
      reported.fire();
    }
    if (former != null && now != null && now.isAfterFailover(former) && !closed) {
      try {
        changeAction.accept(former.master(), now.master());
        changeFailures.succeeded();
      } catch (Throwable e) {
        announced = former; // the next report repeats the action
        changeFailures.failed(e);
      }
    }
    logOutage(); // not before the action, which an error here would prevent
  }

  /** Sets the master of the report with the highest epoch; of several, the present master. */
  @GuardedBy("lock")
  private void updateMaster() {
    MasterReport best = null;
    HostAndPort master = known();
    long sinceNanos = ticker.read() - FORGET_NANOS;
    boolean ignoresOld = 2 * count(each -> each.hasReportedSince(sinceNanos)) > sentinels.size();
    for (MonitoredSentinel each : sentinels) {
      MasterReport report = each.report;
      if (report != null
          && (!ignoresOld || each.hasReportedSince(sinceNanos))
          && (best == null
              || report.epoch() > best.epoch()
              || (report.epoch() == best.epoch() && report.master().equals(master)))) {
        best = report;
      }
    }
    current = best == null ? current : best;
  }

  @GuardedBy("lock")
  private int count(Predicate<MonitoredSentinel> condition) {
    return (int) sentinels.stream().filter(condition).count();
  }

  @GuardedBy("lock")
  private String failures() {
    return sentinels.stream().map(each -> each.sentinel + ": " + each.failure).toList().toString();
  }

  /**
   * Logs an outage once, and only if the client could miss a failover because of it. Without the
   * lock, which the scheduler's thread takes: a log that blocks must not stop the renewals.
   */
  private void logOutage() {
    String failures = newOutage();
    if (failures != null) {
      LOG.warn(
          "none of the sentinels answers; a failover of '{}' goes unnoticed until one does: {}",
          masterName,
          failures);
    }
  }

  /** Returns the failures of an outage that is to be logged; null if there is none. */
  private @Nullable String newOutage() {
    lock.lock();
    try {
      boolean allFailed = count(each -> each.failure != null) == sentinels.size();
      boolean isNew = allFailed && !outageLogged && current != null && !closed;
      outageLogged = allFailed;
      return isNew ? failures() : null;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    closed = true;
    reported.fire();
    threads.shutdown();
    sentinels.forEach(each -> each.sentinel.disconnect());
  }
}
