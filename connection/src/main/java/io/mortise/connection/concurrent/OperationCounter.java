package io.mortise.connection.concurrent;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * How many acquisitions and releases of a client are under way: those that may still need what a
 * client closes, and that are in no list.
 *
 * <p><b>Threads.</b> Whoever begins counts itself <em>before</em> the look at whether the client is
 * closed, or the change by which a hold is its own to release; whoever closes has said so, and has
 * tried to make that change, <em>before</em> it looks at the count. So one of the two sees the
 * other.
 */
public final class OperationCounter {
  private final AtomicInteger count = new AtomicInteger();
  private final Signal finished = new Signal();
  private volatile boolean awaited;

  public void begin() {
    count.incrementAndGet();
  }

  public void end() {
    if (count.decrementAndGet() == 0 && awaited) {
      finished.fire();
    }
  }

  /** Waits until none is under way, or the time is over. An interrupt is kept for later. */
  public void awaitZero(long nanos) {
    awaited = true;
    boolean interrupted = false;
    long endNanos = System.nanoTime() + nanos;
    while (true) {
      long seen = finished.generation();
      long left = endNanos - System.nanoTime();
      if (count.get() == 0 || left <= 0) {
        break;
      }
      try {
        finished.await(seen, left);
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
