package io.mortise.cli.worker;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** One job inside a worker process: its threads, and the words they wait for. */
final class JobRun {
  private final CountDownLatch go = new CountDownLatch(1);
  private final HoldPoint stay = new HoldPoint();
  private final AtomicBoolean open = new AtomicBoolean(true);
  private final List<Semaphore> calls;
  private final Connections connections;
  private final AtomicInteger threadsAtWork;
  private final Consumer<WorkerEvent> reports;
  private final Consumer<Exception> failures;

  private JobRun(
      Job job,
      Connections connections,
      Consumer<WorkerEvent> reports,
      Consumer<Exception> failures) {
    this.connections = connections;
    this.calls = Stream.generate(() -> new Semaphore(0)).limit(job.threads()).toList();
    this.threadsAtWork = new AtomicInteger(job.threads());
    this.reports = reports;
    this.failures = failures;
  }

  /** Connects and starts the threads; they wait for {@link #go()}. */
  static JobRun prepare(
      Job job, WorkerTask work, Consumer<WorkerEvent> reports, Consumer<Exception> failures)
      throws InterruptedException {
    JobRun shift = new JobRun(job, Connections.open(job), reports, failures);
    for (int i = 0; i < job.threads(); i++) {
      WorkerThreadContext till =
          new WorkerThreadContext(
              job, i, shift.connections, shift.calls.get(i), shift.stay, shift.open::get, reports);
      if (i == 0) {
        work.warmUp(till);
      }
      Thread thread = new Thread(() -> shift.run(work, till), "till-" + i);
      thread.setDaemon(true); // the process ends with its input, wherever its threads are
      thread.start();
    }
    return shift;
  }

  void go() {
    go.countDown();
  }

  void call(int thread) {
    calls.get(thread).release();
  }

  void proceed() {
    stay.end();
  }

  void close() {
    open.set(false);
  }

  private void run(WorkerTask work, WorkerThreadContext till) {
    try {
      go.await();
      work.work(till);
      if (threadsAtWork.decrementAndGet() == 0) {
        connections.close();
        reports.accept(new WorkerEvent.Finished());
      }
    } catch (InterruptedException | RuntimeException e) {
      failures.accept(e);
    }
  }
}
