package io.mortise.core.internal.lease;

import java.util.concurrent.atomic.AtomicLongFieldUpdater;

/**
 * The time until which a hold is certain, and the compare-and-set arbiter between its extension and
 * its expiry.
 *
 * <pre>
 *   thread A finds the lease over             thread B has extended the hold in Redis
 *   reads "until 12:00:00", it is 12:00:01
 *                                             lengthen(12:00:30): compare-and-set succeeds
 *   expire: compare-and-set on "12:00:00"
 *   fails; reads "until 12:00:30": not over
 * </pre>
 *
 * <p>In the opposite order thread A makes the deadline over, and {@link #lengthen} of thread B
 * returns false.
 *
 * <p>{@link #note} is Dekker-style "publish, then look": it stores the lease of a request, and then
 * looks whether the deadline is over. A thread that finds the hold expired makes the deadline over,
 * and then looks at the stored lease. So either the request is not sent, or that thread sees its
 * lease.
 *
 * <p><b>Threads.</b> Any thread may call any method. The end and the flag "over" change together,
 * by compare-and-set. A deadline that is over stays over. The thread that makes it over sees
 * everything that was {@link #note noted} before.
 */
final class LeaseDeadline {
  /** Set when the hold has ended for good. The end itself is an even number of nanoseconds. */
  private static final long OVER = 1;

  // No AtomicLong: a client may keep a million holds.
  private static final AtomicLongFieldUpdater<LeaseDeadline> END =
      AtomicLongFieldUpdater.newUpdater(LeaseDeadline.class, "end");
  private static final AtomicLongFieldUpdater<LeaseDeadline> NOTED_MILLIS =
      AtomicLongFieldUpdater.newUpdater(LeaseDeadline.class, "notedMillis");

  /** The end of the hold, on the clock of {@link System#nanoTime()}, and {@link #OVER}. */
  private volatile long end;

  /** The longest lease that was sent to extend the hold; 0 when none was sent. */
  private volatile long notedMillis;

  LeaseDeadline(long endNanos) {
    this.end = endNanos & ~OVER;
  }

  private static boolean isOver(long value) {
    return (value & OVER) != 0;
  }

  /** Returns the end of the hold, also when the deadline is over. */
  long nanos() {
    return end & ~OVER;
  }

  /** Returns whether the hold has ended, so that nothing can extend it any more. */
  boolean isOver() {
    return isOver(end);
  }

  /** Moves the end to a later time; an earlier time changes nothing. Returns false if over. */
  boolean lengthen(long endNanos) {
    long later = endNanos & ~OVER;
    while (true) {
      long seen = end;
      if (isOver(seen)) {
        return false;
      }
      if (later - seen <= 0 || END.compareAndSet(this, seen, later)) {
        return true;
      }
    }
  }

  /** Makes the deadline over if its end has passed; returns whether it is over then. */
  boolean expire(long nowNanos) {
    while (true) {
      long seen = end;
      if (isOver(seen)) {
        return true;
      }
      if (nowNanos - seen < 0) {
        return false;
      }
      if (END.compareAndSet(this, seen, seen | OVER)) {
        return true;
      }
    }
  }

  /** Makes the deadline over before its end, because the hold ended for another reason. */
  void end() {
    END.getAndAccumulate(this, OVER, (seen, over) -> seen | over);
  }

  /**
   * Records that a request may make Redis keep the hold for this lease, counted from any later
   * moment. Must be called before the request is sent: the request takes effect whether or not its
   * reply arrives.
   *
   * @return false if the deadline is over: then nothing may be sent
   */
  boolean note(long leaseMillis) {
    NOTED_MILLIS.accumulateAndGet(this, leaseMillis, Math::max);
    return !isOver();
  }

  /** Returns the longest lease that a request may have set; 0 when none was sent. */
  long notedMillis() {
    return notedMillis;
  }

  /** Returns whether Redis may keep the hold for longer than this deadline. */
  boolean mayOutlive() {
    return notedMillis() > 0;
  }
}
