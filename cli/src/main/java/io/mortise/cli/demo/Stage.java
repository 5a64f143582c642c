package io.mortise.cli.demo;

import io.mortise.cli.timeline.Mark;
import io.mortise.cli.worker.Job;
import io.mortise.cli.worker.Note;
import io.mortise.cli.worker.Order;
import io.mortise.cli.worker.Stock;
import io.mortise.cli.worker.Suspension;
import io.mortise.cli.worker.WorkerEvent.Entered;
import io.mortise.cli.worker.WorkerEvent.Failed;
import io.mortise.cli.worker.WorkerEvent.Logged;
import io.mortise.cli.worker.WorkerEvent.Ready;
import io.mortise.cli.worker.WorkerReport;
import io.mortise.cli.worker.Workers;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What one chapter is played on: the workers, the stock, and the recording of what happens. The
 * chapter's thread does everything: whenever it waits, it takes in what the workers report.
 */
public final class Stage {
  private static final Duration LOG_COMES_WITHIN = Duration.ofMillis(200);

  private final String chapter;
  private final String lockName;
  private final String redisUri;
  private final DemoSettings settings;
  private final Stock stock;
  private final Workers workers;
  private final Progress progress;
  private final Duration patience;
  private final Recording recording = new Recording();
  private final Set<Integer> onStage = new TreeSet<>();

  Stage(
      String chapter,
      String lockName,
      String redisUri,
      DemoSettings settings,
      Stock stock,
      Workers workers,
      Progress progress,
      Duration patience) {
    this.chapter = chapter;
    this.lockName = lockName;
    this.redisUri = redisUri;
    this.settings = settings;
    this.stock = stock;
    this.workers = workers;
    this.progress = progress;
    this.patience = patience;
  }

  /** What the sale is like. */
  public DemoSettings settings() {
    return settings;
  }

  /** What is for sale. */
  public Stock stock() {
    return stock;
  }

  /** What has happened so far. */
  public Recording recording() {
    return recording;
  }

  /** What is shown while it goes on. */
  public Progress progress() {
    return progress;
  }

  /** Opens the sale: all workers sell in this role, and begin at the same time. */
  public void open(String role) throws InterruptedException {
    prepare(
        IntStream.range(0, workers.count()).boxed().collect(Collectors.toMap(i -> i, i -> role)));
    onStage.forEach(this::go);
  }

  /**
   * Opens the sale with a role for each worker; those that have none stay away. One begins before
   * the others and sells one ahead of them, so that it is sure to have a part in the sale.
   */
  public void open(Map<Integer, String> roles, int first) throws InterruptedException {
    prepare(roles);
    go(first);
    await("the first sale", () -> recording.served() > 0);
    onStage.stream().filter(worker -> worker != first).forEach(this::go);
  }

  private void prepare(Map<Integer, String> roles) throws InterruptedException {
    progress.say("workers connect");
    workers.startMissing();
    stock.write(settings.stock());
    onStage.addAll(roles.keySet());
    roles.forEach((worker, role) -> workers.send(worker, new Order.Prepare(job(worker, role))));
    await("the workers to connect", () -> recording.prepared(onStage));
    progress.say("selling");
  }

  private void go(int worker) {
    workers.send(worker, new Order.Go());
  }

  private Job job(int worker, String role) {
    return new Job(
        chapter,
        role,
        List.of(redisUri),
        lockName,
        settings.stock(),
        settings.threads(),
        settings.customersOf(worker),
        settings.lease().toMillis());
  }

  /** Whether all workers but this one have finished. */
  public boolean othersFinished(int worker) {
    Set<Integer> others = new TreeSet<>(onStage);
    others.remove(worker);
    return recording.finished(others);
  }

  /** Waits until all have finished that were not killed. */
  public void awaitEnd() throws InterruptedException {
    await("the workers to finish", () -> recording.finished(onStage));
  }

  /** Waits until this worker has said that it stays inside. */
  public Entered awaitStaying(int worker) throws InterruptedException {
    await(
        "worker %d to get in".formatted(worker + 1),
        () -> recording.staying(worker).isPresent() || recording.finished(onStage));
    return recording
        .staying(worker)
        .orElseThrow(
            () ->
                new DemoFailure(
                    "worker %d did not get in before all was sold: a larger --stock gives it more time"
                        .formatted(worker + 1),
                    null));
  }

  /** Kills the worker with SIGKILL, and gives the time, in ns. */
  public long kill(int worker) throws InterruptedException {
    long now = System.nanoTime();
    workers.kill(worker);
    onStage.remove(worker);
    recording.endHoldOf(worker, now);
    recording.add(
        new Mark(worker, Mark.WHOLE_PROCESS, Note.KILLED, now, "the process is killed (SIGKILL)"));
    return now;
  }

  /** Suspends the worker with SIGSTOP until this is closed. */
  public Suspension suspend(int worker) {
    try {
      Suspension suspension = workers.suspend(worker);
      long now = System.nanoTime();
      recording.endHoldOf(worker, now);
      recording.add(
          new Mark(worker, Mark.WHOLE_PROCESS, Note.PAUSED, now, "the process stops (SIGSTOP)"));
      return suspension;
    } catch (IOException e) {
      throw new DemoFailure("a worker cannot be suspended: " + e.getMessage(), e);
    }
  }

  /** Lets the worker run again, with what it was about to do; gives the time, in ns. */
  public long wake(int worker, Suspension suspension) {
    long now = System.nanoTime();
    recording.add(
        new Mark(worker, Mark.WHOLE_PROCESS, Note.WOKEN, now, "the process runs on (SIGCONT)"));
    try {
      suspension.close();
    } catch (IOException e) {
      throw new DemoFailure("a worker cannot be woken: " + e.getMessage(), e);
    }
    workers.send(worker, new Order.Proceed());
    return now;
  }

  /**
   * Takes in what the workers report until this is so.
   *
   * @throws Standstill if they report nothing for longer than anything can take
   */
  public void await(String what, BooleanSupplier done) throws InterruptedException {
    Duration silence = patience.plus(settings.lease());
    while (!done.getAsBoolean()) {
      WorkerReport report = workers.nextReport(silence.toNanos());
      if (report == null) {
        throw new Standstill(
            "nothing happened for %d s while waiting for %s".formatted(silence.toSeconds(), what));
      }
      take(report);
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
  }

  private void take(WorkerReport report) {
    recording.add(report);
    progress.to(recording.sold());
    if (report.event() instanceof Logged logged) {
      progress.log("worker %d: %s".formatted(report.worker() + 1, logged.line()));
    }
  }

  /** What a worker that failed has logged comes on another way than its report, and later. */
  private void takeLog() throws InterruptedException {
    long deadline = System.nanoTime() + LOG_COMES_WITHIN.toNanos();
    WorkerReport report = workers.nextReport(LOG_COMES_WITHIN.toNanos());
    while (report != null) {
      take(report);
      report = workers.nextReport(Math.max(0, deadline - System.nanoTime()));
    }
  }
}
