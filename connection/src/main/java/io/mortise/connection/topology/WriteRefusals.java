package io.mortise.connection.topology;

import com.google.common.base.Ticker;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Decides when a server that refuses to write, because it is a replica, counts as another master:
 * at the first refusal after a reply, and at the first reply after a refusal. At the refusal the
 * address may still lead to the former master; the reply may come from the next one.
 *
 * <p>Between two reports is at least a second. A replica answers commands that only read. So where
 * some commands read and others write, each refusal and each reply could be the first, and what a
 * report causes may be refused too. Within that second a reply leaves its report to a later one,
 * and a refusal leaves it to a later reply: a second failover that is over when the second ends is
 * not missed.
 *
 * <p><b>Threads.</b> Any thread may report the outcome of a command. Many may do so at the same
 * moment, because they share a connection: one of them runs the action, under the lock, and the
 * others do not wait for it.
 */
final class WriteRefusals {
  static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final ReentrantLock lock = new ReentrantLock();

  /** Whether the next reply is to be reported: there was a refusal since the last reported one. */
  private volatile boolean refused;

  private boolean everReported;
  private long reportedNanos;

  /**
   * Notes that a command was answered.
   *
   * @param action runs if there is another master; after an error the next answer repeats it
   */
  void answered(Ticker ticker, Runnable action) {
    if (refused) {
      report(false, ticker, action);
    }
  }

  /**
   * Notes that a write was refused.
   *
   * @param action runs if there is another master; after an error the next refusal repeats it
   */
  void refused(Ticker ticker, Runnable action) {
    if (!refused) {
      report(true, ticker, action);
    }
  }

  private void report(boolean isRefusal, Ticker ticker, Runnable action) {
    if (!lock.tryLock()) {
      return;
    }
    try {
      long now = ticker.read();
      boolean due = !everReported || now - reportedNanos >= PAUSE_NANOS;
      if (refused != isRefusal && due) {
        action.run();
        reportedNanos = now;
        everReported = true;
        refused = isRefusal;
      } else if (isRefusal) {
        refused = true;
      }
    } finally {
      lock.unlock();
    }
  }
}
