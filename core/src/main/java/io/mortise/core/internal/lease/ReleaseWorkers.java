package io.mortise.core.internal.lease;

import io.mortise.connection.concurrent.BackgroundTasks;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Runs the background releases of a client on at most {@value #MAX_WORKERS} workers at a time, in
 * the order in which they became due.
 *
 * <p>Example: a server is silent for longer than the lease, and a client has lost ten thousand
 * holds there. With a worker for each, ten thousand threads would wait for a command timeout, again
 * and again. So a release that is due joins a queue. A worker needs a permit, and runs what is in
 * the queue until that is empty. Eight releases wait for the server; as soon as it answers, they
 * and the others follow each other without a pause.
 *
 * <p><b>Threads.</b> Any thread may call any method; one worker at a time has the turn of a
 * release. The order is "publish, then look": a release is in the queue <em>before</em> its thread
 * looks for a permit, and a worker gives its permit back <em>before</em> it looks at the queue a
 * last time. So one of the two runs the release. An error of a release ends its worker, which gives
 * its permit back; the next {@link Turn#request} of any release starts another one.
 */
final class ReleaseWorkers {
  private static final int MAX_WORKERS = 8;

  private final BackgroundTasks tasks;
  private final Queue<Runnable> due = new ConcurrentLinkedQueue<>();
  private final Semaphore permits = new Semaphore(MAX_WORKERS);

  ReleaseWorkers(BackgroundTasks tasks) {
    this.tasks = tasks;
  }

  private void startWorker() {
    if (!due.isEmpty() && permits.tryAcquire()) {
      try {
        tasks.run(this::runDue);
      } catch (Throwable e) {
        permits.release();
        throw e;
      }
    }
  }

  private void runDue() {
    do {
      try {
        for (Runnable next = due.poll(); next != null; next = due.poll()) {
          next.run();
        }
      } finally {
        permits.release();
      }
    } while (!due.isEmpty() && permits.tryAcquire());
  }

  private enum State {
    IDLE,
    WAITING,
    RUNNING
  }

  /** The place of one release: not in the queue, in the queue, or on a worker. */
  final class Turn {
    private final Runnable release;
    private final AtomicReference<State> state = new AtomicReference<>(State.IDLE);

    /**
     * @param release begins with {@link #begin}, and ends with {@link #end} if that returned true
     */
    Turn(Runnable release) {
      this.release = release;
    }

    /** Has the release run by a worker, unless it waits for one or runs. */
    void request() {
      if (state.compareAndSet(State.IDLE, State.WAITING)) {
        try {
          due.add(release);
        } catch (Throwable e) {
          state.set(State.IDLE);
          throw e;
        }
      }
      startWorker(); // also for one that waits: an error may have ended the workers
    }

    boolean isWaiting() {
      return state.get() == State.WAITING;
    }

    boolean begin() {
      return state.compareAndSet(State.WAITING, State.RUNNING);
    }

    void end() {
      state.set(State.IDLE);
    }
  }
}
