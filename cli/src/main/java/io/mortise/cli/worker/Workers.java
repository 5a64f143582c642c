package io.mortise.cli.worker;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The worker processes of a demo, and one queue of all their events, in the order of arrival. They
 * end with this JVM: a shutdown hook kills them, and if that does not run, their input ends.
 *
 * <p><b>Threads.</b> One thread controls the workers and takes the events; the shutdown hook and
 * the readers of the pipes run beside it.
 */
public final class Workers implements AutoCloseable {
  /** How long all of them may take to write their recordings, on a busy machine. */
  private static final Duration RECORDINGS_WITHIN = Duration.ofSeconds(20);

  private final String mainClass;
  private final Optional<Path> recordings;
  private final AtomicReferenceArray<@Nullable WorkerProcess> processes;
  private final BlockingQueue<WorkerReport> reports = new LinkedBlockingQueue<>();
  private final Thread killer = new Thread(this::killAll, "mortise-demo-kill-workers");

  /** Makes room for this many; {@link #startMissing()} starts them. */
  public Workers(int count, String mainClass) {
    this(count, mainClass, Optional.empty());
  }

  /**
   * The same.
   *
   * @param recordings the folder for a recording of Flight Recorder of each worker; one that is
   *     killed leaves none
   */
  public Workers(int count, String mainClass, Optional<Path> recordings) {
    this.mainClass = mainClass;
    this.recordings = recordings;
    this.processes = new AtomicReferenceArray<>(count);
    Runtime.getRuntime().addShutdownHook(killer);
  }

  /** Returns the number of workers. */
  public int count() {
    return processes.length();
  }

  /** Starts those that do not run; requests may be sent to them at once. */
  public void startMissing() {
    for (int i = 0; i < count(); i++) {
      if (processes.get(i) == null) {
        processes.set(i, WorkerProcess.start(i, mainClass, recordings, reports::add));
      }
    }
  }

  /** Sends a request to the worker. */
  public void send(int worker, WorkerRequest request) {
    running(worker).send(request);
  }

  /** SIGKILL. Returns when the process is gone. */
  public void kill(int worker) throws InterruptedException {
    running(worker).kill();
    processes.set(worker, null);
  }

  /** SIGSTOP, until the suspension is closed. */
  public Suspension suspend(int worker) throws IOException {
    return running(worker).suspend();
  }

  /**
   * Waits for the next event of any worker.
   *
   * @return null if none arrived within that time
   */
  public @Nullable WorkerReport nextReport(long timeoutNanos) throws InterruptedException {
    return reports.poll(timeoutNanos, TimeUnit.NANOSECONDS);
  }

  /** Ends all processes and forgets their events. */
  public void reset() throws InterruptedException {
    for (int i = 0; i < count(); i++) {
      if (processes.get(i) != null) {
        kill(i);
      }
    }
    reports.clear();
  }

  @Override
  public void close() {
    if (recordings.isPresent()) {
      awaitRecordings();
    }
    killAll();
    try {
      Runtime.getRuntime().removeShutdownHook(killer);
    } catch (IllegalStateException e) {
      // The JVM is shutting down already: the hook runs or has run.
    }
  }

  private WorkerProcess running(int worker) {
    WorkerProcess process = processes.get(worker);
    if (process == null) {
      throw new IllegalStateException("worker %d does not run".formatted(worker + 1));
    }
    return process;
  }

  /** Lets the workers end by themselves; those that take too long are killed after it. */
  private void awaitRecordings() {
    for (int i = 0; i < count(); i++) {
      WorkerProcess process = processes.get(i);
      if (process != null) {
        process.endInput();
      }
    }
    long deadline = System.nanoTime() + RECORDINGS_WITHIN.toNanos();
    try {
      for (int i = 0; i < count(); i++) {
        WorkerProcess process = processes.get(i);
        if (process != null) {
          process.awaitEnd(deadline - System.nanoTime());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void killAll() {
    for (int i = 0; i < count(); i++) {
      WorkerProcess process = processes.getAndSet(i, null);
      if (process != null) {
        process.close();
      }
    }
  }
}
