package io.mortise.it.support;

import com.google.common.util.concurrent.Uninterruptibles;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that wakes again and again, and reports for how long it could not: when its process was
 * suspended, collected garbage, or waited for a processor.
 */
public final class PauseRecorder implements AutoCloseable {
  private static final long PERIOD_NANOS = 10_000_000;
  private static final long SHORTEST_NANOS = 5_000_000;

  static {
    // The JVM loads the class of an error when a class first catches it, which needs memory.
    Objects.requireNonNull(OutOfMemoryError.class);
  }

  /** Called on the thread of the recorder; times of {@link System#nanoTime()}. */
  @FunctionalInterface
  public interface PauseListener {
    void paused(long fromNanos, long toNanos);
  }

  private final PauseListener listener;
  private final Thread thread = new Thread(this::run, "pause-recorder");
  private volatile boolean stopped;
  private volatile long lookedNanos = System.nanoTime();

  private PauseRecorder(PauseListener listener) {
    this.listener = listener;
  }

  /** Starts the thread. */
  public static PauseRecorder start(PauseListener listener) {
    PauseRecorder recorder = new PauseRecorder(listener);
    recorder.thread.setDaemon(true);
    recorder.thread.start();
    return recorder;
  }

  private void run() {
    long last = System.nanoTime();
    while (!stopped) {
      LockSupport.parkNanos(PERIOD_NANOS);
      long now = System.nanoTime();
      last = record(last, now);
      lookedNanos = last;
    }
  }

  /** Waits until all pauses before that time of {@link System#nanoTime()} are reported. */
  void awaitLookedAt(long nanos) {
    while (!stopped && lookedNanos - nanos < 0) {
      LockSupport.parkNanos(PERIOD_NANOS / 10);
    }
  }

  /**
   * Records a pause, if there was one between two wake-ups.
   *
   * @return from when the next one counts: a pause without a record, because memory is exhausted,
   *     goes on
   */
  private long record(long last, long now) {
    try {
      if (now - last > PERIOD_NANOS + SHORTEST_NANOS) {
        listener.paused(last + PERIOD_NANOS, now);
      }
      return now;
    } catch (OutOfMemoryError full) {
      return last;
    }
  }

  @Override
  public void close() {
    stopped = true;
    LockSupport.unpark(thread);
    Uninterruptibles.joinUninterruptibly(thread);
  }
}
