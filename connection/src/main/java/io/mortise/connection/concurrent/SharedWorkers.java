package io.mortise.connection.concurrent;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs short tasks of the client itself on at most a few workers, in their order. Not for code of
 * the user, which may block.
 *
 * <p>Example: a server has lost its data, and a client learns within a moment that ten thousand
 * holds are lost. With a worker for each report, thousands of threads would start to write a line
 * of the log each.
 *
 * <p><b>Threads.</b> Any thread may call it. The order is "publish, then look": a task is in the
 * queue <em>before</em> its thread looks for a permit, and a worker gives its permit back
 * <em>before</em> it looks at the queue a last time. So one of the two runs the task. A thread that
 * cannot start a worker, because the client is closed or memory is exhausted, is the worker.
 */
public final class SharedWorkers {
  private static final Logger LOG = LoggerFactory.getLogger(SharedWorkers.class);

  private final BackgroundTasks tasks;
  private final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
  private final Semaphore permits;
  private final Runnable worker = this::runAll; // made once: to start one needs no memory here

  /**
   * @param most the number of workers at a time
   */
  public SharedWorkers(BackgroundTasks tasks, int most) {
    this.tasks = tasks;
    this.permits = new Semaphore(most);
  }

  /**
   * Runs the task soon. One that throws is logged, and ends no worker.
   *
   * @throws OutOfMemoryError if the task was not taken
   */
  public void execute(Runnable task) {
    queue.add(task);
    if (permits.tryAcquire()) {
      start();
    }
  }

  private void start() {
    try {
      tasks.execute(worker);
    } catch (RuntimeException | Error none) {
      runAll();
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
