package io.mortise.it.chaos;

import com.google.common.util.concurrent.Uninterruptibles;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread of a client process that wakes again and again, and records for how long it could not:
 * when the process was suspended, collected garbage, or waited for a processor.
 */
final class PauseRecorder {
  private static final long PERIOD_NANOS = 10_000_000;
  private static final long SHORTEST_NANOS = 5_000_000;

  private final HoldObserver observer;
  private final Thread thread = new Thread(this::run, "pause-recorder");
  private volatile boolean stopped;

  private PauseRecorder(HoldObserver observer) {
    this.observer = observer;
  }

  static PauseRecorder start(HoldObserver observer) {
    PauseRecorder recorder = new PauseRecorder(observer);
    recorder.thread.setDaemon(true);
    recorder.thread.start();
    return recorder;
  }

  private void run() {
    long last = System.nanoTime();
    while (!stopped) {
      LockSupport.parkNanos(PERIOD_NANOS);
      long now = System.nanoTime();
      if (now - last > PERIOD_NANOS + SHORTEST_NANOS) {
        observer.paused(last + PERIOD_NANOS, now);
      }
      last = now;
    }
  }

  void stop() {
    stopped = true;
    LockSupport.unpark(thread);
    Uninterruptibles.joinUninterruptibly(thread);
  }
}
