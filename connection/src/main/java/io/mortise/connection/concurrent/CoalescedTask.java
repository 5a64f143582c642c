package io.mortise.connection.concurrent;

import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A task that a worker runs when it is requested. While it runs, any number of requests make one
 * more run after it.
 *
 * <p>Example: a slot moves that has a thousand channels, and the server reports each of them. All
 * reports ask for the slot map. With a task for each, a thousand threads would start, and each
 * would look at all channels.
 *
 * <p><b>Threads.</b> Any thread may call every method. A run that begins after a request sees all
 * that the requesting thread did before: the worker leaves only by a compare-and-set from the
 * number of requests that it read <em>before</em> the run.
 */
public final class CoalescedTask {
  private static final Logger LOG = LoggerFactory.getLogger(CoalescedTask.class);

  private final WorkerPool workers;
  private final Runnable task;

  /** The number of requests since the last time that no worker was running the task. */
  private final AtomicInteger requests = new AtomicInteger();

  /** A task that fails may be requested again and again. */
  private final RepeatedFailureLog failures =
      new RepeatedFailureLog(LOG, "a background task of a client failed");

  public CoalescedTask(WorkerPool workers, Runnable task) {
    this.workers = workers;
    this.task = task;
  }

  /** Returns whether the task runs, or is about to run. */
  public boolean isRunning() {
    return requests.get() != 0;
  }

  /** Runs the task soon; without effect when no worker can be started, or the client is closed. */
  public void request() {
    if (requests.getAndIncrement() == 0) {
      boolean started = false;
      try {
        started = workers.tryRun(this::runUntilQuiet);
      } catch (OutOfMemoryError | StackOverflowError noThread) {
        // The next request tries again.
      } finally {
        if (!started) {
          requests.set(0);
        }
      }
    }
  }

  private void runUntilQuiet() {
    try {
      int requested;
      do {
        requested = requests.get();
        task.run();
        failures.succeeded();
      } while (!requests.compareAndSet(requested, 0));
    } catch (Throwable e) {
      requests.set(0); // an error must not prevent later runs
      failures.failed(e);
    }
  }
}
