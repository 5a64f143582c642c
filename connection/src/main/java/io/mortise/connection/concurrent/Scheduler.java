package io.mortise.connection.concurrent;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread that does what is due: renewals, expiries, signs of life, lingering subscriptions.
 *
 * <p><b>Why not a {@code ScheduledExecutorService}:</b> a lock that is taken and released in a
 * fraction of its lease would pay for a timer put into a shared heap and taken out again, and ten
 * thousand locks would each have their own moment. Here taking and releasing is one entry in a
 * concurrent set; the thread sleeps until the earliest moment, scans the set, and does in one go
 * all that is due and all that says it may be done by now, so that renewals gather in batches.
 *
 * <p><b>Never late.</b> Whatever goes along with it, no entry is looked after later than the first
 * pass after it is due: a pass calls each entry that is due <em>or</em> may come early, and the
 * next pass begins when the first of all entries is due. An error ends neither the pass nor the
 * thread.
 *
 * <p><b>Threads.</b> {@code add}, {@code remove} and {@code poke} may be called by any; only the
 * scheduler's thread calls {@link Scheduler.ScheduledTask#onDue}, which must not block. A new entry
 * is not missed: {@code add} puts it into the set <i>before</i> it reads {@code wakeAtNanos}, and a
 * scan sets {@code wakeAtNanos} to "scanning" <i>before</i> it reads the set. Either the scan sees
 * the entry, or the entry sees "scanning" and says so in {@code poked}, which is read before the
 * next park.
 */
public final class Scheduler implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Scheduler.class);

  /** Nothing is worth waking up for more often than this. */
  private static final long TICK_NANOS = 1_000_000;

  private static final long IDLE_NANOS = 60_000_000_000L;

  /**
   * Once woken, the thread looks again after this time, whatever it has found: an entry that comes
   * and goes in less than it takes to wake it would otherwise wake it each time.
   */
  private static final long RESTLESS_NANOS = 25_000_000;

  /** After a pass that an error has ended. */
  private static final long AFTER_ERROR_NANOS = 10_000_000;

  /** What is due at some time. Times are those of {@link System#nanoTime()}. */
  public interface ScheduledTask {
    /**
     * When {@link #onDue} has to be called. May change; call {@link #wakeBy} if it becomes earlier.
     */
    long dueNanos();

    /** When it may be called, if the thread is awake anyway. */
    default long mayRunAtNanos() {
      return dueNanos();
    }

    /** Must make {@link #dueNanos} later, or remove this. Must not block. */
    void onDue(long nowNanos);
  }

  private final Set<Scheduler.ScheduledTask> entries = ConcurrentHashMap.newKeySet();
  private final LongSupplier clock;
  private final Runnable afterScan;
  private final ThreadFactory threads;
  private volatile boolean scanning;

  /** Besides the park permit, which any lock taken in a scan may consume. */
  private volatile boolean poked;

  private volatile long wakeAtNanos;
  private volatile boolean closed;
  private volatile @Nullable Thread thread;

  /** What has ended the last pass; the thread's alone. */
  private @Nullable Throwable failure;

  /**
   * @param clock nanoTime, or a test's
   * @param afterScan sends what the entries of a scan have gathered
   */
  public Scheduler(LongSupplier clock, Runnable afterScan, ThreadFactory threads) {
    this.clock = clock;
    this.afterScan = afterScan;
    this.threads = threads;
    this.wakeAtNanos = clock.getAsLong();
  }

  /** Starts the thread. */
  public void start() {
    Thread started = threads.newThread(this::loop);
    thread = started;
    started.start();
  }

  public void add(Scheduler.ScheduledTask entry) {
    entries.add(entry);
    wakeBy(entry.dueNanos());
  }

  public void remove(Scheduler.ScheduledTask entry) {
    entries.remove(entry);
  }

  /** To be called when something has become due earlier than it was. */
  public void wakeBy(long dueNanos) {
    if (scanning || dueNanos - wakeAtNanos < 0) {
      poked = true;
      LockSupport.unpark(thread);
    }
  }

  /** Forgets everything; for a client that was closed. */
  public void clear() {
    entries.clear();
  }

  public int size() {
    return entries.size();
  }

  /** The entries of one kind at this moment. */
  public <T extends Scheduler.ScheduledTask> List<T> entries(Class<T> kind) {
    return entries.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  /**
   * Goes on after any error, wherever it comes: where there is no memory even a line that allocates
   * nothing may fail. So the handlers do nothing, and there are two of them.
   */
  private void loop() {
    while (!closed) {
      try {
        passes();
      } catch (Throwable e) {
        failure = e;
      }
    }
  }

  private void passes() {
    while (!closed) {
      try {
        pass();
      } catch (Throwable e) {
        failure = e;
      }
    }
  }

  private void pass() {
    Throwable before = failure;
    if (before != null) {
      LockSupport.parkNanos(this, AFTER_ERROR_NANOS);
      failure = null;
      failed("a pass of the scheduler failed", before);
    }
    long next = scan(clock.getAsLong());
    if (!poked && !closed) {
      LockSupport.parkNanos(this, Math.max(TICK_NANOS, next - clock.getAsLong()));
    }
  }

  /** One pass over all entries; gives the time of the next. Package-private for tests. */
  long scan(long nowNanos) {
    scanning = true;
    long next = nowNanos + (poked ? RESTLESS_NANOS : IDLE_NANOS);
    poked = false;
    try {
      for (Scheduler.ScheduledTask entry : entries) {
        if (entry.dueNanos() - nowNanos <= 0 || entry.mayRunAtNanos() - nowNanos <= 0) {
          run("a scheduled task failed", () -> entry.onDue(nowNanos));
        }
        if (entries.contains(entry) && entry.dueNanos() - next < 0) {
          next = entry.dueNanos();
        }
      }
      run("what was due could not be sent", afterScan);
    } finally {
      wakeAtNanos = next;
      scanning = false;
    }
    return next;
  }

  /** One faulty entry must not stop the renewal of the others. */
  private static void run(String what, Runnable task) {
    try {
      task.run();
    } catch (Throwable e) {
      failed(what, e);
    }
  }

  private static void failed(String what, Throwable why) {
    try {
      LOG.error(what, why);
    } catch (Throwable unloggable) {
      // The log needs memory too. What failed is tried again at the next pass.
    }
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
