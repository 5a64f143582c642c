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

/** Takes in what the workers report, whenever the chapter waits for something. */
final class EventCollector {
  private static final Duration LOG_COMES_WITHIN = Duration.ofMillis(200);

  /** How often to look at what the workers do not report. */
  private static final Duration LOOKING_EVERY = Duration.ofMillis(1);

  private final Workers workers;
  private final Progress progress;
  private final Duration silence;
  private final List<String> log = new ArrayList<>();
  private Recording recording = new Recording();
  private int servedBefore;

  /**
   * An inbox.
   *
   * @param silence without any report for that long, nothing goes on any more
   */
  EventCollector(Workers workers, Progress progress, Duration silence) {
    this.workers = workers;
    this.progress = progress;
    this.silence = silence;
  }

  /** What has been reported in this act. */
  Recording recording() {
    return recording;
  }

  /** What the workers have logged in all acts. */
  List<String> log() {
    return List.copyOf(log);
  }

  /** From here on another act is recorded. */
  void beginAct() {
    servedBefore += recording.served();
    recording = new Recording();
  }

  /**
   * Takes in reports until this is so, which only reports can change.
   *
   * @throws NoProgressException if none comes for longer than anything can take
   */
  void await(String what, BooleanSupplier done) throws InterruptedException {
    while (!done.getAsBoolean()) {
      WorkerReport report = workers.nextReport(silence.toNanos());
      if (report == null) {
        throw standstill(what);
      }
      take(report);
    }
  }

  /**
   * Takes in reports until this is so, and looks for it every now and then.
   *
   * @throws NoProgressException if it takes longer than anything can
   */
  void watch(String what, BooleanSupplier done) throws InterruptedException {
    long begin = System.nanoTime();
    while (!done.getAsBoolean()) {
      if (System.nanoTime() - begin > silence.toNanos()) {
        throw standstill(what);
      }
      pass(LOOKING_EVERY);
    }
  }

  /** Takes in reports for that time. */
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

  private NoProgressException standstill(String what) {
    return new NoProgressException(
        "nothing happened for %d s while waiting for %s".formatted(silence.toSeconds(), what));
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

  /** What a worker that failed has logged comes on another way than its report, and later. */
  private void takeLog() throws InterruptedException {
    long deadline = System.nanoTime() + LOG_COMES_WITHIN.toNanos();
    WorkerReport report = workers.nextReport(LOG_COMES_WITHIN.toNanos());
    while (report != null) {
      record(report);
      report = workers.nextReport(Math.max(0, deadline - System.nanoTime()));
    }
  }
}
