package io.mortise.connection.concurrent;

import com.google.common.base.Ticker;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Counts the acquisitions and releases of a client that are under way. They may still need what the
 * client closes, and no other list contains them.
 *
 * <p><b>Threads.</b> Any thread may call every method. The order is Dekker-style "publish, then
 * look". An operation increments the count <em>before</em> it looks whether the client is closed,
 * or makes the change by which a hold becomes its own to release. The closing thread marks the
 * client closed, and tries to make that same change, <em>before</em> it reads the count. So one of
 * the two sees the other.
 */
public final class OperationCounter {
  private final AtomicInteger count = new AtomicInteger();
  private final Signal finished = new Signal();
  private final Ticker ticker;
  private volatile boolean awaited;

  public OperationCounter(Ticker ticker) {
    this.ticker = ticker;
  }

  public void begin() {
    count.incrementAndGet();
  }

  public void end() {
    if (count.decrementAndGet() == 0 && awaited) {
      finished.fire();
    }
  }

  /**
   * Waits until no operation is under way, or the time is over. An interrupt does not end the wait;
   * the interrupt status is restored afterwards.
   */
  public void awaitZero(long nanos) {
    awaited = true;
    boolean interrupted = false;
    Deadline deadline = Deadline.after(nanos, ticker);
    while (true) {
      long seen = finished.generation();
      long left = deadline.leftNanos();
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
