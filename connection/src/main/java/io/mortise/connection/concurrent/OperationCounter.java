package io.mortise.connection.concurrent;

import com.google.common.base.Ticker;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Counts the acquisitions and releases of a client that are under way. They may still need what the
 * client closes, and no other list contains them.
 *
 * <p><b>Errors.</b> A stack may overflow in any call. The count changes by one compare-and-set, and
 * no call follows it: a call of {@link #end} that throws has not counted off, and may be repeated.
 * So the closing thread is not notified, and looks again and again.
 *
 * <p><b>Threads.</b> Any thread may call every method. The order is Dekker-style "publish, then
 * look". An operation increments the count <em>before</em> it looks whether the client is closed,
 * or makes the change by which a hold becomes its own to release. The closing thread marks the
 * client closed, and tries to make that same change, <em>before</em> it reads the count. So one of
 * the two sees the other.
 */
public final class OperationCounter {
  private static final long LOOK_NANOS = 1_000_000;

  private final AtomicInteger count = new AtomicInteger();
  private final Ticker ticker;

  public OperationCounter(Ticker ticker) {
    this.ticker = ticker;
  }

  public void begin() {
    count.incrementAndGet();
  }

  public void end() {
    count.decrementAndGet();
  }

  /**
   * Waits until no operation is under way, or the time is over. An interrupt does not end the wait;
   * the interrupt status is restored afterwards.
   */
  public void awaitZero(long nanos) {
    Deadline deadline = Deadline.after(nanos, ticker);
    boolean interrupted = false;
    while (count.get() != 0 && !deadline.hasPassed()) {
      LockSupport.parkNanos(this, LOOK_NANOS);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
