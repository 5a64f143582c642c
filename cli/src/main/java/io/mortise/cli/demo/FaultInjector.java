package io.mortise.cli.demo;

import io.mortise.cli.timeline.Mark;
import io.mortise.cli.worker.EventType;
import io.mortise.cli.worker.Suspension;
import io.mortise.cli.worker.WorkerRequest;
import io.mortise.cli.worker.Workers;
import java.io.IOException;
import java.util.Set;

/** Kills and suspends the worker processes of an act, each with a mark on the time line. */
final class FaultInjector {
  private final Workers workers;
  private final Recording recording;
  private final Set<Integer> active;

  /**
   * Faults for these workers.
   *
   * @param active the workers of this act; a killed one is removed
   */
  FaultInjector(Workers workers, Recording recording, Set<Integer> active) {
    this.workers = workers;
    this.recording = recording;
    this.active = active;
  }

  /** Kills the worker with SIGKILL and returns the time, in ns. */
  long kill(int worker) throws InterruptedException {
    long now = System.nanoTime();
    workers.kill(worker);
    active.remove(worker);
    recording.endHoldOf(worker, now);
    recording.add(
        new Mark(
            worker, Mark.WHOLE_PROCESS, EventType.KILLED, now, "the process is killed (SIGKILL)"));
    return now;
  }

  /** Suspends the worker with SIGSTOP until this is closed. */
  Suspension suspend(int worker) {
    try {
      Suspension suspension = workers.suspend(worker);
      long now = System.nanoTime();
      recording.endHoldOf(worker, now);
      recording.add(
          new Mark(
              worker, Mark.WHOLE_PROCESS, EventType.PAUSED, now, "the process stops (SIGSTOP)"));
      return suspension;
    } catch (IOException e) {
      throw new DemoFailure("a worker cannot be suspended: " + e.getMessage(), e);
    }
  }

  /** Lets the worker run again and proceed; returns the time, in ns. */
  long wake(int worker, Suspension suspension) {
    long now = System.nanoTime();
    recording.add(
        new Mark(
            worker, Mark.WHOLE_PROCESS, EventType.WOKEN, now, "the process runs on (SIGCONT)"));
    try {
      suspension.close();
    } catch (IOException e) {
      throw new DemoFailure("a worker cannot be woken: " + e.getMessage(), e);
    }
    workers.send(worker, new WorkerRequest.Proceed());
    return now;
  }
}
