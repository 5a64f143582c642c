package io.mortise.connection.concurrent;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs tasks of the client itself on at most a few workers at a time, in their order. Not for code
 * of the user, which may block for ever.
 *
 * <p>Example: a server has lost its data, and a client learns within a moment that ten thousand
 * holds are lost. With a worker for each report, thousands of threads would start to write a line
 * of the log each.
 *
 * <p><b>Errors.</b> A stack may overflow anywhere in here, because a thread of the user may add a
 * task. Then the last act of the thread is to write a field, which needs neither stack nor memory:
 * a worker that was not started, or has ended, is free again. If the worker was started all the
 * same, there may be more of them than the most until all have ended.
 *
 * <p><b>Threads.</b> Any thread may call every method. The order is "publish, then look": a task is
 * in the queue <em>before</em> its thread looks for a free worker, and a worker is free again
 * <em>before</em> it looks at the queue a last time. So one of the two runs the task.
 */
public final class SharedWorkers {
  private static final Logger LOG = LoggerFactory.getLogger(SharedWorkers.class);
  private static final AtomicIntegerFieldUpdater<Worker> BUSY =
      AtomicIntegerFieldUpdater.newUpdater(Worker.class, "busy");

  private final Consumer<Runnable> starter;
  private final boolean callerRuns;
  private final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
  private final Worker[] workers; // made once: to start one needs no memory here

  /** One of the workers: its thread is a new one each time that it has something to do. */
  private final class Worker implements Runnable {
    /** 1 from the request for a thread until that has nothing to do, otherwise 0. */
    private volatile int busy;

    /** Returns whether it is free and there is something to do; then it is not free any more. */
    boolean take() {
      return busy == 0 && !queue.isEmpty() && BUSY.compareAndSet(this, 0, 1);
    }

    @Override
    public void run() {
      do {
        try {
          for (Runnable next = queue.poll(); next != null; next = queue.poll()) {
            runLogged(next);
          }
        } finally {
          busy = 0; // no call: there may be no stack for one
        }
      } while (take());
    }
  }

  /**
   * @param starter runs a worker on a thread of its own; throws if it cannot
   * @param most the number of workers at a time
   * @param callerRuns whether a thread that cannot start a worker is the worker, because the client
   *     is closed or memory is exhausted; for tasks that do not block
   */
  public SharedWorkers(Consumer<Runnable> starter, int most, boolean callerRuns) {
    this.starter = starter;
    this.callerRuns = callerRuns;
    this.workers = new Worker[most];
    for (int i = 0; i < most; i++) {
      workers[i] = new Worker();
    }
  }

  /**
   * Runs the task soon. One that throws is logged, and ends no worker.
   *
   * @throws OutOfMemoryError if the task was not taken
   */
  public void execute(Runnable task) {
    add(task);
    ensureWorker();
  }

  /** Adds a task, without a worker for it: {@link #ensureWorker} is to follow. */
  public void add(Runnable task) {
    queue.add(task);
  }

  /**
   * Returns whether no task waits, and none runs. Only for a caller that keeps others from adding
   * one meanwhile: the worker of the last task is busy before that leaves the queue.
   */
  public boolean isIdle() {
    boolean idle = queue.isEmpty();
    for (Worker worker : workers) {
      idle &= worker.busy == 0;
    }
    return idle;
  }

  /** Starts one more worker, if tasks wait and there may be one. */
  public void ensureWorker() {
    for (Worker worker : workers) {
      if (worker.take()) {
        boolean started = false;
        try {
          starter.accept(worker);
          started = true;
        } catch (RuntimeException | Error none) {
          if (!callerRuns) {
            throw none;
          }
          worker.run();
          started = true;
        } finally {
          if (!started) {
            worker.busy = 0; // as in run()
          }
        }
        return;
      }
    }
  }

  private static void runLogged(Runnable task) {
    try {
      task.run();
    } catch (Throwable e) {
      logFailure(e);
    }
  }

  private static void logFailure(Throwable failed) {
    try {
      LOG.error("a background task of a client failed", failed);
    } catch (Throwable noLog) {
      // There is no memory even for a message.
    }
  }
}
