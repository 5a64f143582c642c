package io.mortise.connection.concurrent;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One thread that runs tasks when they are due: renewals, expiries, heartbeats, idle subscriptions.
 *
 * <p><b>Why not a {@code ScheduledExecutorService}:</b> a lock that is acquired and released in a
 * fraction of its lease would pay for a timer that is put into a shared heap and removed again, and
 * ten thousand locks would each have their own wake-up time. Here acquiring and releasing costs one
 * entry in a {@link TimingWheel}. The thread sleeps until the earliest due time, and runs in one
 * pass all tasks that are due and all tasks that may run early, so that renewals gather in batches.
 * A pass in which nothing is due runs nothing: otherwise a thread that is woken often, as by
 * replies on a busy machine, would take each task by itself as soon as it may run.
 *
 * <p><b>Never late.</b> However many tasks run early, no task runs later than in the first pass
 * after its due time: a pass calls each task that is due, and the next pass begins when the
 * earliest of all tasks is due. An error ends neither the pass nor the thread.
 *
 * <p><b>Threads.</b> Any thread may call {@code add}, {@code remove} and {@code reschedule}; only
 * the scheduler's thread calls {@link ScheduledTask#onDue}, which must not block. A new task is not
 * missed, because the order is Dekker-style "publish, then look": {@code add} places the task
 * <i>before</i> it reads {@code scanning}, and a scan sets {@code scanning} <i>before</i> it reads
 * the tasks. Either the scan sees the task, or {@code add} sees {@code scanning} and sets {@code
 * wakeRequested}, which the thread reads before the next park. After a scan {@code add} compares
 * with the {@code wakeAtNanos} that the scan has written before it cleared {@code scanning}. The
 * same holds for a task that is rescheduled.
 */
public final class Scheduler implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Scheduler.class);

  /** The minimum sleep between two passes. */
  private static final long TICK_NANOS = 1_000_000;

  private static final long IDLE_NANOS = 60_000_000_000L;

  /**
   * The maximum sleep after a requested pass, whatever that pass has found. Otherwise a task that
   * is added and removed in less time than the thread needs to wake up would wake it each time.
   */
  private static final long AFTER_WAKE_NANOS = 25_000_000;

  /** The sleep after a pass that an error has ended. */
  private static final long AFTER_ERROR_NANOS = 10_000_000;

  private final TimingWheel wheel;
  private final List<Housekeeping> housekeeping = new CopyOnWriteArrayList<>();
  private final LongSupplier clock;
  private final LongSupplier afterScan;
  private final ThreadFactory threads;
  private volatile boolean scanning;

  /** Requests another pass: any lock that is taken in a scan may consume the park permit. */
  private volatile boolean wakeRequested;

  private volatile long wakeAtNanos;
  private volatile boolean closed;
  private volatile @Nullable Thread thread;

  /** The error that ended the last pass; only the scheduler's thread uses it. */
  private @Nullable Throwable failure;

  /**
   * Creates a scheduler; {@link #start} starts its thread.
   *
   * @param clock reads the ticker of the client
   * @param afterScan sends what the tasks of a scan have gathered, and returns the maximum pause
   *     until the next scan, in ns; after an error it is called again soon
   */
  public Scheduler(LongSupplier clock, LongSupplier afterScan, ThreadFactory threads) {
    this(clock, afterScan, threads, TimingWheel.DEFAULT_SLOTS);
  }

  /** Creates a scheduler with another number of slots, a power of two. */
  Scheduler(LongSupplier clock, LongSupplier afterScan, ThreadFactory threads, int slotCount) {
    this.clock = clock;
    this.afterScan = afterScan;
    this.threads = threads;
    this.wakeAtNanos = clock.getAsLong();
    this.wheel = new TimingWheel(IDLE_NANOS, wakeAtNanos, slotCount);
  }

  public void start() {
    Thread started = threads.newThread(this::loop);
    thread = started;
    started.start();
  }

  /** Adds a task that is not there yet. After an error it is not there either. */
  public void add(ScheduledTask task) {
    try {
      wheel.add(task);
      wakeBy(task.dueNanos());
    } catch (Throwable e) {
      wheel.remove(task);
      throw e;
    }
  }

  /** Removes a task; without effect for one that is not there. */
  public void remove(ScheduledTask task) {
    wheel.remove(task);
  }

  /**
   * Runs an action again and again, for the first time after the period. It is a housekeeping task:
   * one that belongs to the client and not to a lock. Other tasks do not run early because it is
   * due. It is none of the {@link #entries}, and stays until {@link #clear}.
   */
  public void repeat(long periodNanos, Runnable action) {
    long dueNanos = clock.getAsLong() + periodNanos;
    housekeeping.add(new Housekeeping(periodNanos, action, dueNanos));
    wakeBy(dueNanos);
  }

  /** To be called when a task has become due earlier. Without effect for one that is not there. */
  public void reschedule(ScheduledTask task) {
    try {
      wheel.move(task);
    } finally {
      wakeBy(task.dueNanos());
    }
  }

  private void wakeBy(long dueNanos) {
    if (scanning || dueNanos - wakeAtNanos < 0) {
      wakeRequested = true;
      LockSupport.unpark(thread);
    }
  }

  /** Removes all tasks; for a client that was closed. */
  public void clear() {
    wheel.clear();
    housekeeping.clear();
  }

  /** Returns the number of tasks, those of {@link #repeat} not included. */
  public int size() {
    return wheel.size();
  }

  /** Returns the tasks of one type at this moment. */
  public <T extends ScheduledTask> List<T> entries(Class<T> kind) {
    return wheel.tasks().stream().filter(kind::isInstance).map(kind::cast).toList();
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
    var unused = Thread.interrupted(); // from outside, as by the thread group: no pause would last
    Throwable previousFailure = failure;
    if (previousFailure != null) {
      LockSupport.parkNanos(this, AFTER_ERROR_NANOS);
      failure = null;
      logError("a pass of the scheduler failed", previousFailure);
    }
    long next = scan(clock.getAsLong());
    if (!isWakeRequested() && !closed) {
      LockSupport.parkNanos(this, Math.max(TICK_NANOS, next - clock.getAsLong()));
    }
  }

  /** Runs one pass and returns the time of the next. Package-private for tests. */
  long scan(long nowNanos) {
    scanning = true;
    long pause = wakeRequested ? AFTER_WAKE_NANOS : IDLE_NANOS;
    long next = nowNanos + pause;
    wakeRequested = false;
    try {
      try {
        next = nowNanos + Math.min(pause, runDue(nowNanos));
      } finally {
        next = runHousekeeping(nowNanos, wheel.nextNanos(next));
      }
    } finally {
      wakeAtNanos = next;
      scanning = false;
    }
    return next;
  }

  /** Returns whether the thread makes another pass before it sleeps. Package-private for tests. */
  boolean isWakeRequested() {
    return wakeRequested;
  }

  /** Runs what is due, and returns the maximum pause until the next pass. */
  private long runDue(long nowNanos) {
    long pause;
    try {
      if (wheel.isAnyDue(nowNanos)) {
        wheel.forEachRunnable(nowNanos, task -> runTask(task, nowNanos));
      }
    } finally { // after an error too: what was gathered waits for its answer
      pause = afterScan.getAsLong(); // its error ends the pass, and the next one comes soon
    }
    return pause;
  }

  /** Runs those that are due; returns the earliest due time of them all, or the given one. */
  private long runHousekeeping(long nowNanos, long atLatestNanos) {
    long next = atLatestNanos;
    for (Housekeeping each : housekeeping) {
      if (each.dueNanos - nowNanos <= 0) {
        each.run(nowNanos);
      }
      next = each.dueNanos - next < 0 ? each.dueNanos : next;
    }
    return next;
  }

  /** A housekeeping task. One that fails may be due again soon, and fail again. */
  private static final class Housekeeping {
    private final long periodNanos;
    private final Runnable action;

    /** When it is due; once it is added, only the scheduler's thread uses the field. */
    private long dueNanos;

    private final RepeatedFailureLog failures =
        new RepeatedFailureLog(LOG, "a housekeeping task failed");

    Housekeeping(long periodNanos, Runnable action, long dueNanos) {
      this.periodNanos = periodNanos;
      this.action = action;
      this.dueNanos = dueNanos;
    }

    void run(long nowNanos) {
      dueNanos = nowNanos + periodNanos; // first: an error may end the action
      try {
        action.run();
        failures.succeeded();
      } catch (Throwable e) {
        failures.failed(e);
      }
    }
  }

  /** Runs a task; one faulty task must not stop the renewal of the others. */
  private static void runTask(ScheduledTask task, long nowNanos) {
    try {
      task.onDue(nowNanos);
    } catch (Throwable e) {
      logError("a scheduled task failed", e);
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
