package io.mortise.it.chaos;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** Lets time pass by a plan, not in the hope that something happens meanwhile. */
final class PlannedTime {
  private PlannedTime() {}

  static void pass(Duration time) throws InterruptedException {
    until(System.nanoTime() + time.toNanos());
  }

  static void until(long nanos) throws InterruptedException {
    for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
      LockSupport.parkNanos(left);
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
    }
  }
}
