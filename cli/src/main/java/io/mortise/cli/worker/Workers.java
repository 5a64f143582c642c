package io.mortise.cli.worker;

import java.io.IOException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The worker processes of a demo. All that they report comes into one queue, in the order in which
 * it came, so whoever reads it needs no locks. They end with this JVM: a shutdown hook kills them,
 * and should that not run, their input ends.
 */
public final class Workers implements AutoCloseable {
  private final String mainClass;
  private final AtomicReferenceArray<@Nullable WorkerProcess> processes;
  private final BlockingQueue<WorkerReport> inbox = new LinkedBlockingQueue<>();
  private final Thread killer = new Thread(this::killAll, "mortise-demo-kill-workers");

  /** Room for so many; {@link #startMissing()} starts them. */
  public Workers(int count, String mainClass) {
    this.mainClass = mainClass;
    this.processes = new AtomicReferenceArray<>(count);
    Runtime.getRuntime().addShutdownHook(killer);
  }

  /** How many there are. */
  public int count() {
    return processes.length();
  }

  /** Starts those that do not run; they take orders at once, and obey when they are ready. */
  public void startMissing() {
    for (int i = 0; i < count(); i++) {
      if (processes.get(i) == null) {
        processes.set(i, WorkerProcess.start(i, mainClass, inbox::add));
      }
    }
  }

  /** Tells the worker what to do. */
  public void send(int worker, WorkerRequest order) {
    running(worker).send(order);
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
   * The next report of any worker.
   *
   * @return null if none came within that time
   */
  public @Nullable WorkerReport nextReport(long timeoutNanos) throws InterruptedException {
    return inbox.poll(timeoutNanos, TimeUnit.NANOSECONDS);
  }

  /** Ends all processes, and forgets what they have reported. */
  public void reset() throws InterruptedException {
    for (int i = 0; i < count(); i++) {
      if (processes.get(i) != null) {
        kill(i);
      }
    }
    inbox.clear();
  }

  @Override
  public void close() {
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

  private void killAll() {
    for (int i = 0; i < count(); i++) {
      WorkerProcess process = processes.getAndSet(i, null);
      if (process != null) {
        process.close();
      }
    }
  }
}
