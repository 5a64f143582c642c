package io.mortise.connection.pool;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.mortise.connection.pool.SentinelConnection.UnknownMaster;
import io.mortise.connection.pool.SentinelConnection.Word;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import redis.clients.jedis.HostAndPort;
import redis.clients.jedis.exceptions.JedisConnectionException;

/**
 * Which server the sentinels call the master. Nobody listens to them, because a subscription whose
 * connection is half-open is silent for ever: they are asked, all at the same time, again and
 * again, and a question that is not answered in time is put over a new connection.
 *
 * <p><b>Who is believed.</b> Each failover has an epoch, higher than all before. The last word of
 * each sentinel counts, also while it cannot be asked, and of all words that with the highest
 * epoch. So a sentinel that is cut off from the others together with a former master does not turn
 * the client back to that. A word that was not repeated for a minute is forgotten while more than
 * half of the sentinels speak: sentinels that are made anew begin with epoch 0. The first word is
 * not believed before more than half of the sentinels have spoken, or none is left to wait for, or
 * half of the caller's time is over.
 *
 * <p><b>Threads.</b> {@code lock} guards the words, and is not held while anybody is asked. A
 * sentinel is asked by one thread at a time, whose last act is to bring the word, or the failure,
 * under the lock. Callers wait for the first word until their own deadlines.
 */
public final class SentinelMonitor implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SentinelMonitor.class);
  private static final long IDLE_SECONDS = 5;
  public static final long FORGET_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final String masterName;
  private final List<Asked> all = new ArrayList<>();
  private final ThreadPoolExecutor threads;
  private final long forgetNanos;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition told = lock.newCondition();
  private volatile BiConsumer<HostAndPort, HostAndPort> changed = (former, now) -> {};
  private volatile @Nullable HostAndPort master;
  private volatile boolean closed;

  /** Whether the log knows that none of them answers. */
  @GuardedBy("lock")
  private boolean tellsOfOutage;

  /** A sentinel, and how it was when it was last asked; guarded by the lock. */
  private static final class Asked {
    final SentinelConnection sentinel;
    boolean underWay;
    @Nullable Word word;
    long saidNanos;
    @Nullable Throwable failure;

    Asked(SentinelConnection sentinel) {
      this.sentinel = sentinel;
    }
  }

  /**
   * @param forgetNanos after which a word that is not repeated is forgotten
   */
  public SentinelMonitor(
      String masterName,
      Collection<SentinelConnection> sentinels,
      ThreadFactory threads,
      long forgetNanos) {
    this.masterName = masterName;
    this.forgetNanos = forgetNanos;
    sentinels.forEach(sentinel -> all.add(new Asked(sentinel)));
    this.threads =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE, // more than one for each only while one is about to end
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            threads);
  }

  /**
   * What to do when there is another master than before, which gets both; to be set before the
   * first use. Called by a thread of this class's own.
   */
  void onChange(BiConsumer<HostAndPort, HostAndPort> action) {
    changed = action;
  }

  /** The master as it is known; null before the first answer. */
  public @Nullable HostAndPort known() {
    return master;
  }

  /**
   * The master; asks only if it is not known yet.
   *
   * @throws JedisConnectionException if none of the sentinels has named it until the deadline
   */
  public HostAndPort master(long deadlineNanos) throws InterruptedException {
    HostAndPort known = master;
    return known != null ? known : firstMaster(deadlineNanos);
  }

  private HostAndPort firstMaster(long deadlineNanos) throws InterruptedException {
    long half = (deadlineNanos - System.nanoTime()) / 2;
    boolean asked = false;
    lock.lockInterruptibly();
    try {
      while (true) {
        ensureOpen();
        long left = deadlineNanos - System.nanoTime();
        if (left <= half) {
          believe();
        }
        HostAndPort known = master;
        if (known != null) {
          return known;
        }
        if (left <= 0) {
          throw new JedisConnectionException(
              "the sentinels have not said in time where '" + masterName + "' is",
              new TimeoutException());
        }
        if (!isUnderWay()) {
          if (asked && all.stream().allMatch(each -> each.failure instanceof UnknownMaster)) {
            throw new UnknownMaster(
                "the sentinels watch no master '" + masterName + "'", all.get(0).failure);
          }
          if (asked) {
            throw new JedisConnectionException(
                "none of the sentinels says where '" + masterName + "' is: " + failures(),
                all.get(0).failure);
          }
          ask();
        }
        asked = true; // also if others have asked: that answer serves too
        if (isUnderWay()) {
          var unused = told.awaitNanos(left > half ? left - half : left);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void ensureOpen() {
    if (closed) {
      throw new JedisConnectionException("the client was closed");
    }
  }

  /** Asks those that are not being asked already; waits for nothing. */
  public void ask() {
    lock.lock();
    try {
      for (Asked each : all) {
        if (!each.underWay && !closed) {
          each.underWay = true;
          try {
            threads.execute(() -> ask(each));
          } catch (RejectedExecutionException | OutOfMemoryError | StackOverflowError noThread) {
            each.underWay = false;
            each.failure = noThread;
          }
        }
      }
    } finally {
      lock.unlock();
    }
  }

  private void ask(Asked one) {
    Word word = null;
    Throwable failure = null;
    try {
      word = one.sentinel.ask(masterName);
    } catch (Throwable e) { // an error too: the next question may be answered
      failure = e;
    }
    HostAndPort former;
    HostAndPort now;
    lock.lock();
    try {
      one.underWay = false;
      if (word != null) {
        one.word = word;
        one.saidNanos = System.nanoTime();
      }
      one.failure = failure;
      former = master;
      if (former != null || 2 * spoken() > all.size() || !isUnderWay()) {
        believe();
      }
      now = master;
      told.signalAll();
      tellOfOutage();
      if (closed) {
        one.sentinel.disconnect();
      }
    } finally {
      lock.unlock();
    }
    if (former != null && now != null && !former.equals(now)) {
      try {
        changed.accept(former, now);
      } catch (RuntimeException e) {
        LOG.error("a failover of '{}' could not be told", masterName, e);
      }
    }
  }

  /** The word with the highest epoch; of several the one that is believed already. */
  @GuardedBy("lock")
  private void believe() {
    Word best = null;
    int fresh = 0;
    for (Asked each : all) {
      fresh += isFresh(each) ? 1 : 0;
    }
    boolean forgets = 2 * fresh > all.size();
    for (Asked each : all) {
      Word word = each.word;
      if (word != null
          && (!forgets || isFresh(each))
          && (best == null
              || word.epoch() > best.epoch()
              || (word.epoch() == best.epoch() && word.master().equals(master)))) {
        best = word;
      }
    }
    master = best == null ? master : best.master();
  }

  @GuardedBy("lock")
  private boolean isFresh(Asked each) {
    return each.word != null && System.nanoTime() - each.saidNanos < forgetNanos;
  }

  @GuardedBy("lock")
  private int spoken() {
    return (int) all.stream().filter(each -> each.word != null).count();
  }

  @GuardedBy("lock")
  private boolean isUnderWay() {
    return all.stream().anyMatch(each -> each.underWay);
  }

  @GuardedBy("lock")
  private String failures() {
    return all.stream().map(each -> each.sentinel + ": " + each.failure).toList().toString();
  }

  /** Once an outage, and only if somebody could miss a failover by it. */
  @GuardedBy("lock")
  private void tellOfOutage() {
    boolean none = all.stream().allMatch(each -> each.failure != null);
    if (none && !tellsOfOutage && master != null && !closed) {
      LOG.warn(
          "none of the sentinels answers; a failover of '{}' goes unnoticed until one does: {}",
          masterName,
          failures());
    }
    tellsOfOutage = none;
  }

  @Override
  public void close() {
    closed = true;
    lock.lock();
    try {
      told.signalAll();
    } finally {
      lock.unlock();
    }
    threads.shutdown();
    all.forEach(each -> each.sentinel.disconnect());
  }
}
