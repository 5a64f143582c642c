package io.mortise.cli.worker;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The run of one job inside a worker process.
 *
 * <p><b>Threads.</b> One thread prepares and controls it; the threads of the job work in it.
 */
final class JobRun {
  private final CountDownLatch go = new CountDownLatch(1);
  private final HoldPoint holdPoint = new HoldPoint();
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
      Job job, WorkerTask task, Consumer<WorkerEvent> reports, Consumer<Exception> failures)
      throws InterruptedException {
    JobRun run = new JobRun(job, Connections.open(job), reports, failures);
    for (int i = 0; i < job.threads(); i++) {
      WorkerThreadContext context =
          new WorkerThreadContext(
              job, i, run.connections, run.calls.get(i), run.holdPoint, run.open::get, reports);
      if (i == 0) {
        task.warmUp(context);
      }
      Thread thread = new Thread(() -> run.run(task, context), "worker-thread-" + i);
      thread.setDaemon(true); // the process ends with its input, whatever its threads do
      thread.start();
    }
    return run;
  }

  void go() {
    go.countDown();
  }

  void call(int thread) {
    calls.get(thread).release();
  }

  void proceed() {
    holdPoint.end();
  }

  void close() {
    open.set(false);
  }

  private void run(WorkerTask task, WorkerThreadContext context) {
    try {
      go.await();
      task.work(context);
      if (threadsAtWork.decrementAndGet() == 0) {
        connections.close();
        reports.accept(new WorkerEvent.Finished());
      }
    } catch (InterruptedException | RuntimeException e) {
      failures.accept(e);
    }
  }
}
