package io.mortise.connection.concurrent;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
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
 * <p><b>Threads.</b> Any thread may call every method. The order is "publish, then look": a task is
 * in the queue <em>before</em> its thread looks for a permit, and a worker gives its permit back
 * <em>before</em> it looks at the queue a last time. So one of the two runs the task.
 */
public final class SharedWorkers {
  private static final Logger LOG = LoggerFactory.getLogger(SharedWorkers.class);

  private final Consumer<Runnable> starter;
  private final boolean callerRuns;
  private final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
  private final Semaphore permits;
  private final Runnable worker = this::runAll; // made once: to start one needs no memory here

  /**
   * @param starter runs a worker on a thread of its own; throws if it cannot
   * @param most the number of workers at a time
   * @param callerRuns whether a thread that cannot start a worker is the worker, because the client
   *     is closed or memory is exhausted; for tasks that do not block
   */
  public SharedWorkers(Consumer<Runnable> starter, int most, boolean callerRuns) {
    this.starter = starter;
    this.callerRuns = callerRuns;
    this.permits = new Semaphore(most);
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

  /** Starts one more worker, if tasks wait and there may be one. */
  public void ensureWorker() {
    if (!queue.isEmpty() && permits.tryAcquire()) {
      try {
        starter.accept(worker);
      } catch (RuntimeException | Error none) {
        if (!callerRuns) {
          permits.release();
          throw none;
        }
        runAll();
      }
    }
  }

  private void runAll() {
    do {
      try {
        for (Runnable next = queue.poll(); next != null; next = queue.poll()) {
          run(next);
        }
      } finally {
        permits.release();
      }
    } while (!queue.isEmpty() && permits.tryAcquire());
  }

  private static void run(Runnable task) {
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
