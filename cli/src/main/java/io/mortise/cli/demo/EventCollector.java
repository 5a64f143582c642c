package io.mortise.cli.demo;

import io.mortise.cli.worker.WorkerEvent.Failed;
import io.mortise.cli.worker.WorkerEvent.Logged;
import io.mortise.cli.worker.WorkerEvent.Ready;
import io.mortise.cli.worker.WorkerReport;
import io.mortise.cli.worker.Workers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Collects the events of the workers while the chapter waits for something.
 *
 * <p><b>Threads.</b> One thread, that of the chapter.
 */
final class EventCollector {
  private static final Duration LOG_DELAY = Duration.ofMillis(200);

  /** The interval of polls for what the workers do not report. */
  private static final Duration POLL_INTERVAL = Duration.ofMillis(1);

  private final Workers workers;
  private final Progress progress;
  private final Duration timeout;
  private final List<String> log = new ArrayList<>();
  private Recording recording = new Recording();
  private int servedBefore;

  /**
   * A collector without events.
   *
   * @param timeout longer than any step takes
   */
  EventCollector(Workers workers, Progress progress, Duration timeout) {
    this.workers = workers;
    this.progress = progress;
    this.timeout = timeout;
  }

  /** The events of this act. */
  Recording recording() {
    return recording;
  }

  /** The lines that the workers have logged in all acts. */
  List<String> log() {
    return List.copyOf(log);
  }

  /** Begins the recording of another act. */
  void beginAct() {
    servedBefore += recording.served();
    recording = new Recording();
  }

  /**
   * Collects events until the condition holds, which only events can change.
   *
   * @throws NoProgressException if there is none within the time-out
   */
  void await(String what, BooleanSupplier done) throws InterruptedException {
    while (!done.getAsBoolean()) {
      WorkerReport report = workers.nextReport(timeout.toNanos());
      if (report == null) {
        throw noProgress(what);
      }
      take(report);
    }
  }

  /**
   * Collects events, and polls the condition until it holds.
   *
   * @throws NoProgressException if it does not hold within the time-out
   */
  void watch(String what, BooleanSupplier done) throws InterruptedException {
    long begin = System.nanoTime();
    while (!done.getAsBoolean()) {
      if (System.nanoTime() - begin > timeout.toNanos()) {
        throw noProgress(what);
      }
      pass(POLL_INTERVAL);
    }
  }

  /** Collects events for that time. */
  void pass(Duration time) throws InterruptedException {
    long end = System.nanoTime() + time.toNanos();
    long left = time.toNanos();
    while (left > 0) {
      WorkerReport report = workers.nextReport(left);
      if (report != null) {
        take(report);
      }
      left = end - System.nanoTime();
    }
  }

  private NoProgressException noProgress(String what) {
    return new NoProgressException(
        "nothing happened for %d s while waiting for %s".formatted(timeout.toSeconds(), what));
  }

  private void take(WorkerReport report) throws InterruptedException {
    record(report);
    if (report.event() instanceof Failed failed) {
      takeLog();
      throw new DemoFailure(
          "worker %d failed: %s".formatted(report.worker() + 1, failed.message()), null);
    }
    if (report.event() instanceof Ready ready && ready.atNanos() > System.nanoTime()) {
      throw new DemoFailure(
          "the processes of this machine do not share a clock (System.nanoTime()), so what"
              + " happened in them cannot be put in order",
          null);
    }
  }

  private void record(WorkerReport report) {
    recording.add(report);
    progress.to(servedBefore + recording.served());
    if (report.event() instanceof Logged logged) {
      String line = "worker %d: %s".formatted(report.worker() + 1, logged.line());
      log.add(line);
      progress.log(line);
    }
  }

  /**
   * Collects the log of a failed worker, which comes on another pipe than its events, and later.
   */
  private void takeLog() throws InterruptedException {
    long deadline = System.nanoTime() + LOG_DELAY.toNanos();
    WorkerReport report = workers.nextReport(LOG_DELAY.toNanos());
    while (report != null) {
      record(report);
      report = workers.nextReport(Math.max(0, deadline - System.nanoTime()));
    }
  }
}
