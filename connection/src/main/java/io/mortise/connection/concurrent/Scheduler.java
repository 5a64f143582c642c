package io.mortise.connection.concurrent;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread that runs tasks when they are due: renewals, expiries, heartbeats, idle subscriptions.
 *
 * <p><b>Why not a {@code ScheduledExecutorService}:</b> a lock that is acquired and released in a
 * fraction of its lease would pay for a timer that is put into a shared heap and removed again, and
 * ten thousand locks would each have their own wake-up time. Here acquiring and releasing costs one
 * entry in a concurrent set. The thread sleeps until the earliest due time, scans the set, and runs
 * in one pass all tasks that are due and all tasks that may run early, so that renewals gather in
 * batches. A pass in which nothing is due runs nothing: otherwise a thread that is woken often, as
 * by replies on a busy machine, would take each task by itself as soon as it may run.
 *
 * <p><b>Never late.</b> However many tasks run early, no task runs later than in the first pass
 * after its due time: a pass calls each task that is due, and the next pass begins when the
 * earliest of all tasks is due. An error ends neither the pass nor the thread.
 *
 * <p><b>Threads.</b> Any thread may call {@code add}, {@code remove} and {@code wakeBy}; only the
 * scheduler's thread calls {@link Scheduler.ScheduledTask#onDue}, which must not block. A new task
 * is not missed, because the order is Dekker-style "publish, then look": {@code add} puts the task
 * into the set <i>before</i> it reads {@code scanning}, and a scan sets {@code scanning}
 * <i>before</i> it reads the set. Either the scan sees the task, or {@code add} sees {@code
 * scanning} and sets {@code wakeRequested}, which the thread reads before the next park. After a
 * scan {@code add} compares with the {@code wakeAtNanos} that the scan has written before it
 * cleared {@code scanning}.
 */
public final class Scheduler implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Scheduler.class);

  /** The minimum sleep between two passes. */
  private static final long TICK_NANOS = 1_000_000;

  /** The maximum sleep. */
  private static final long IDLE_NANOS = 60_000_000_000L;

  /**
   * The maximum sleep after a requested pass, whatever that pass has found. Otherwise a task that
   * is added and removed in less time than the thread needs to wake up would wake it each time.
   */
  private static final long AFTER_WAKE_NANOS = 25_000_000;

  /** The sleep after a pass that an error has ended. */
  private static final long AFTER_ERROR_NANOS = 10_000_000;

  /** A task with a due time. Times are those of the client's ticker. */
  public interface ScheduledTask {
    /**
     * Returns when {@link #onDue} has to be called. The time may change; the task calls {@link
     * #wakeBy} if it becomes earlier.
     */
    long dueNanos();

    /** Returns when {@link #onDue} may be called if another task is due. */
    default long mayRunAtNanos() {
      return dueNanos();
    }

    /** Runs the task. Must make {@link #dueNanos} later, or remove the task. Must not block. */
    void onDue(long nowNanos);
  }

  private final Set<Scheduler.ScheduledTask> entries = ConcurrentHashMap.newKeySet();
  private final LongSupplier clock;
  private final Runnable afterScan;
  private final ThreadFactory threads;
  private volatile boolean scanning;

  /**
   * Requests another pass. The park permit alone is not enough: any lock taken in a scan may
   * consume it.
   */
  private volatile boolean wakeRequested;

  private volatile long wakeAtNanos;
  private volatile boolean closed;
  private volatile @Nullable Thread thread;

  /** The error that ended the last pass; only the scheduler's thread uses it. */
  private @Nullable Throwable failure;

  /**
   * @param clock reads the ticker of the client
   * @param afterScan sends what the tasks of a scan have gathered
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

  /** Makes the thread scan by the given time; called when a task has become due earlier. */
  public void wakeBy(long dueNanos) {
    if (scanning || dueNanos - wakeAtNanos < 0) {
      wakeRequested = true;
      LockSupport.unpark(thread);
    }
  }

  /** Removes all tasks; for a client that was closed. */
  public void clear() {
    entries.clear();
  }

  public int size() {
    return entries.size();
  }

  /** Returns the tasks of one type at this moment. */
  public <T extends Scheduler.ScheduledTask> List<T> entries(Class<T> kind) {
    return entries.stream().filter(kind::isInstance).map(kind::cast).toList();
  }

  /**
   * Continues after any error: without memory even a line that allocates nothing may fail. So the
   * handlers do nothing, and there are two of them.
   */
  private void loop() {
    while (!closed) {
      try {
        runPasses();
      } catch (Throwable e) {
        failure = e;
      }
    }
  }

  private void runPasses() {
    while (!closed) {
      try {
        runPass();
      } catch (Throwable e) {
        failure = e;
      }
    }
  }

  private void runPass() {
    Throwable previousFailure = failure;
    if (previousFailure != null) {
      LockSupport.parkNanos(this, AFTER_ERROR_NANOS);
      failure = null;
      logError("a pass of the scheduler failed", previousFailure);
    }
    long next = scan(clock.getAsLong());
    if (!wakeRequested && !closed) {
      LockSupport.parkNanos(this, Math.max(TICK_NANOS, next - clock.getAsLong()));
    }
  }

  /** Runs one pass over all tasks and returns the time of the next. Package-private for tests. */
  long scan(long nowNanos) {
    scanning = true;
    long next = nowNanos + (wakeRequested ? AFTER_WAKE_NANOS : IDLE_NANOS);
    wakeRequested = false;
    try {
      if (run(ScheduledTask::dueNanos, nowNanos)) {
        run(ScheduledTask::mayRunAtNanos, nowNanos);
      }
      for (Scheduler.ScheduledTask entry : entries) {
        if (entry.dueNanos() - next < 0) {
          next = entry.dueNanos();
        }
      }
      runTask("the batches of due tasks could not be sent", afterScan);
    } finally {
      wakeAtNanos = next;
      scanning = false;
    }
    return next;
  }

  /** Runs the tasks of which one of the times has come; returns whether there were any. */
  private boolean run(ToLongFunction<ScheduledTask> timeNanos, long nowNanos) {
    boolean any = false;
    for (Scheduler.ScheduledTask entry : entries) {
      if (timeNanos.applyAsLong(entry) - nowNanos <= 0) {
        any = true;
        runTask("a scheduled task failed", () -> entry.onDue(nowNanos));
      }
    }
    return any;
  }

  /** Runs a task; one faulty task must not stop the renewal of the others. */
  private static void runTask(String message, Runnable task) {
    try {
      task.run();
    } catch (Throwable e) {
      logError(message, e);
    }
  }

  private static void logError(String message, Throwable cause) {
    try {
      LOG.error(message, cause);
    } catch (Throwable unloggable) {
      // The log needs memory too. The next pass tries the failed task again.
    }
  }

  @Override
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }
}
