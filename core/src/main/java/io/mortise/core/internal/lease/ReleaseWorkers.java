package io.mortise.core.internal.lease;

import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.SharedWorkers;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Runs the background releases of a client on at most {@value #MAX_WORKERS} workers at a time, in
 * the order in which they became due.
 *
 * <p>Example: a server is silent for longer than the lease, and a client has lost ten thousand
 * holds there. With a worker for each, ten thousand threads would wait for a command timeout, again
 * and again. Here eight releases wait for the server; as soon as it answers, they and the others
 * follow each other without a pause.
 *
 * <p><b>Threads.</b> Any thread may call any method; one worker at a time has the turn of a
 * release.
 */
final class ReleaseWorkers {
  private static final int MAX_WORKERS = 8;

  private final SharedWorkers workers;

  ReleaseWorkers(BackgroundTasks tasks) {
    this.workers = new SharedWorkers(tasks::run, MAX_WORKERS, false);
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
          workers.add(release);
        } catch (Throwable e) {
          state.set(State.IDLE);
          throw e;
        }
      }
      workers.ensureWorker(); // also for one that waits: no worker may have been started for it
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
