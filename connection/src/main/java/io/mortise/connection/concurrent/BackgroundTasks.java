package io.mortise.connection.concurrent;

import com.google.common.base.Ticker;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks on worker threads, at once or after a delay. A task for which no thread can be started
 * is tried again, because the end of a hold must not fail halfway.
 *
 * <p><b>Threads.</b> Any thread may call every method; each task runs on a worker.
 */
public final class BackgroundTasks {
  private static final Logger LOG = LoggerFactory.getLogger(BackgroundTasks.class);

  /** The pause before another attempt to start a thread. */
  private static final long THREAD_RETRY_NANOS = 200_000_000L;

  /** The least time between two errors in the log. */
  private static final long ERROR_PAUSE_NANOS = 60_000_000_000L;

  private final WorkerPool workers;
  private final Scheduler scheduler;
  private final ClosingState closing;
  private final Ticker ticker;
  private volatile boolean errorLogged;
  private volatile long errorNanos;

  public BackgroundTasks(
      WorkerPool workers, Scheduler scheduler, ClosingState closing, Ticker ticker) {
    this.workers = workers;
    this.scheduler = scheduler;
    this.closing = closing;
    this.ticker = ticker;
  }

  /** Runs a task on a worker, later if no thread can be started; not after the close. */
  public void run(Runnable task) {
    try {
      start(task, false);
    } catch (RejectedExecutionException closed) {
      LOG.debug("the client is closed; a background task was dropped");
    }
  }

  /**
   * Runs a task as {@link #run} does, but never drops it: for what has to happen after the close
   * too. {@link #runDelayed} runs what is still delayed then.
   *
   * @throws RejectedExecutionException if the client is closed, and no worker can be started; the
   *     task was not taken
   */
  public void execute(Runnable task) {
    start(task, true);
  }

  private void start(Runnable task, boolean kept) {
    try {
      workers.execute(task);
    } catch (OutOfMemoryError noThread) {
      logDelay(noThread);
      var unused = schedule(task, THREAD_RETRY_NANOS, kept);
    }
  }

  /** Logs that tasks are delayed: about one error a minute, however many tasks there are. */
  private void logDelay(OutOfMemoryError noThread) {
    long now = ticker.read();
    String message = "no thread can be started; a background task of the client is delayed";
    if (!errorLogged || now - errorNanos >= ERROR_PAUSE_NANOS) {
      LOG.error(message, noThread); // it may fail without memory: then the next one is logged
      errorNanos = now;
      errorLogged = true;
    } else {
      LOG.debug(message, noThread);
    }
  }

  /**
   * Runs on this thread the tasks of {@link #execute} that are still delayed. To be called when the
   * client is closed and its workers have ended.
   */
  public void runDelayed() {
    scheduler.entries(Delayed.class).stream().filter(delayed -> delayed.kept).forEach(Delayed::run);
  }

  /**
   * Runs a task once on a worker, after the delay.
   *
   * @return cancels the task, unless it has begun
   * @throws RejectedExecutionException if the client is closed
   */
  public Runnable schedule(Runnable task, long delayNanos) {
    return schedule(task, delayNanos, false);
  }

  private Runnable schedule(Runnable task, long delayNanos, boolean kept) {
    Delayed delayed = new Delayed(task, ticker.read() + delayNanos, kept);
    scheduler.add(delayed);
    if (closing.isClosed()) { // afterwards: otherwise the closing thread finds it
      scheduler.remove(delayed);
      throw new RejectedExecutionException("the client was closed");
    }
    return () -> scheduler.remove(delayed);
  }

  /**
   * A task with a delay. It stays scheduled until a worker has it, and runs once: the closing
   * thread may find it between the two.
   */
  private final class Delayed implements ScheduledTask, Runnable {
    private final Runnable task;
    private final AtomicBoolean begun = new AtomicBoolean();
    private volatile long dueNanos;

    /** Whether the task must not be dropped. */
    private final boolean kept;

    Delayed(Runnable task, long dueNanos, boolean kept) {
      this.task = task;
      this.dueNanos = dueNanos;
      this.kept = kept;
    }

    @Override
    public long dueNanos() {
      return dueNanos;
    }

    @Override
    public void onDue(long nowNanos) {
      dueNanos = nowNanos + THREAD_RETRY_NANOS; // should an error leave it scheduled
      try {
        workers.execute(this);
      } catch (OutOfMemoryError noThread) {
        logDelay(noThread);
        return;
      } catch (RejectedExecutionException closed) {
        if (kept) {
          return; // for the closing thread
        }
      }
      scheduler.remove(this);
    }

    @Override
    public void run() {
      if (begun.compareAndSet(false, true)) {
        task.run();
      }
    }
  }
}
