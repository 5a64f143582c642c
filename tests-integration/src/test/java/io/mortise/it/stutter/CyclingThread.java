package io.mortise.it.stutter;

import io.mortise.core.DistributedLock;
import io.mortise.it.stutter.ContendedLock.Contender;
import io.mortise.it.support.LateAnswer;
import io.mortise.testkit.HoldLog;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A thread that locks and unlocks until it is stopped, and measures how long it waits.
 *
 * <p><b>Threads.</b> The thread itself writes; another one may read at any time.
 */
final class CyclingThread {
  private final String name;
  private final Contender contender;
  private final HoldLog log;
  private final Thread thread;
  private volatile boolean stopped;
  private final AtomicLong cycles = new AtomicLong();
  private volatile long longestNanos;
  private volatile long waitStartNanos; // 0 when it does not wait
  private volatile Throwable failure;

  CyclingThread(String name, Contender contender, HoldLog log) {
    this.name = name;
    this.contender = contender;
    this.log = log;
    this.thread = new Thread(this::cycle, name);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  private void cycle() {
    DistributedLock lock = contender.lock();
    try {
      while (!stopped) {
        long start = System.nanoTime() | 1;
        waitStartNanos = start;
        lock.lock();
        waitStartNanos = 0;
        try {
          longestNanos = Math.max(longestNanos, System.nanoTime() - start);
          log.acquired(lock.name(), name, lock.lease().fencingToken(), contender.mode()).released();
        } finally {
          LateAnswer.release(lock, lock::unlock); // the process is suspended now and then
        }
        cycles.incrementAndGet();
      }
    } catch (RuntimeException | Error e) {
      failure = e;
    }
  }

  void stop() {
    stopped = true;
  }

  boolean hasEnded() {
    return !thread.isAlive();
  }

  /** Returns the longest wait, the current one included. */
  long longestMillis() {
    long start = waitStartNanos;
    long now = start == 0 ? 0 : System.nanoTime() - start;
    return TimeUnit.NANOSECONDS.toMillis(Math.max(longestNanos, now));
  }

  /** Prints a line for the parent, and the stack if it failed or waits for too long. */
  void report(long boundMillis) {
    System.out.printf(
        "worker %s %s cycles %d longest %d ms%n",
        name, contender.mode(), cycles.get(), longestMillis());
    Throwable thrown = failure;
    if (thrown != null) {
      System.out.printf("failed %s%n", thrown);
      thrown.printStackTrace(System.out);
    } else if (longestMillis() > boundMillis) {
      for (StackTraceElement frame : thread.getStackTrace()) {
        System.out.printf("    at %s%n", frame);
      }
    }
  }

  boolean isWell(long boundMillis) {
    return failure == null && longestMillis() <= boundMillis;
  }
}
