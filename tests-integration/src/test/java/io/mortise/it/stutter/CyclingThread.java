package io.mortise.it.stutter;

import io.mortise.core.DistributedLock;
import io.mortise.it.stutter.Family.Contender;
import io.mortise.testkit.HoldLog;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A thread that locks and unlocks until it is told to stop, and how long it had to wait.
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
  private volatile long askedNanos; // 0 when it does not wait
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
        long asked = System.nanoTime() | 1;
        askedNanos = asked;
        lock.lock();
        askedNanos = 0;
        try {
          longestNanos = Math.max(longestNanos, System.nanoTime() - asked);
          log.acquired(lock.name(), name, lock.lease().fencingToken(), contender.mode()).released();
        } finally {
          lock.unlock();
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

  /** Its longest wait, the one under way included. */
  long longestMillis() {
    long asked = askedNanos;
    long now = asked == 0 ? 0 : System.nanoTime() - asked;
    return TimeUnit.NANOSECONDS.toMillis(Math.max(longestNanos, now));
  }

  /** A line for the parent; where it stands, if it failed or waits for long. */
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
