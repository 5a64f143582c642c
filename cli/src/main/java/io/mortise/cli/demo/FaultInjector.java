package io.mortise.cli.demo;

import io.mortise.cli.timeline.Mark;
import io.mortise.cli.worker.EventType;
import io.mortise.cli.worker.Suspension;
import io.mortise.cli.worker.WorkerRequest;
import io.mortise.cli.worker.Workers;
import java.io.IOException;
import java.util.Set;

/** What befalls the worker processes of an act, each with its mark on the time line. */
final class FaultInjector {
  private final Workers workers;
  private final Recording recording;
  private final Set<Integer> onStage;

  /**
   * The fate of those.
   *
   * @param onStage who plays in this act; who is killed does no longer
   */
  FaultInjector(Workers workers, Recording recording, Set<Integer> onStage) {
    this.workers = workers;
    this.recording = recording;
    this.onStage = onStage;
  }

  /** Kills the worker with SIGKILL, and gives the time, in ns. */
  long kill(int worker) throws InterruptedException {
    long now = System.nanoTime();
    workers.kill(worker);
    onStage.remove(worker);
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

  /** Lets the worker run again, with what it was about to do; gives the time, in ns. */
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
