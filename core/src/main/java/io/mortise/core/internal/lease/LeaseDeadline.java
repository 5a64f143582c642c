package io.mortise.core.internal.lease;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Until when a hold is sure: the one arbiter between lengthening it and its expiry.
 *
 * <pre>
 *   A looks at the clock                      B has lengthened the hold in Redis
 *   reads "until 12:00:00", it is 12:00:01
 *                                             lengthen(12:00:30): compare-and-set succeeds
 *   expire: compare-and-set on "12:00:00"
 *   fails; reads "until 12:00:30": not over
 * </pre>
 *
 * <p>In the other order A makes the deadline over, and B's {@link #lengthen} fails.
 *
 * <p><b>Threads.</b> Any thread may call any method. A deadline that is over stays over. Whoever
 * makes it over sees what was {@link #note noted} before.
 */
final class LeaseDeadline {
  /**
   * A moment, and whether the hold has ended for good.
   *
   * @param endNanos on the clock of {@link System#nanoTime()}
   */
  private record Term(long endNanos, boolean over) {}

  private final AtomicReference<Term> term;

  /** The longest lease that was sent to lengthen the hold; 0 when none was. */
  private final AtomicLong notedMillis = new AtomicLong();

  LeaseDeadline(long endNanos) {
    this.term = new AtomicReference<>(new Term(endNanos, false));
  }

  private Term now() {
    return Objects.requireNonNull(term.get());
  }

  /** The moment, also when it is over. */
  long nanos() {
    return now().endNanos();
  }

  /** Whether the hold has ended, so that nothing can lengthen it any more. */
  boolean isOver() {
    return now().over();
  }

  /** Moves the moment to a later one; a moment that is not later changes nothing. False if over. */
  boolean lengthen(long endNanos) {
    while (true) {
      Term known = now();
      if (known.over()) {
        return false;
      }
      if (endNanos - known.endNanos() <= 0
          || term.compareAndSet(known, new Term(endNanos, false))) {
        return true;
      }
    }
  }

  /** Ends the hold if its moment has come; whether it is over then. */
  boolean expire(long nowNanos) {
    while (true) {
      Term known = now();
      if (known.over()) {
        return true;
      }
      if (nowNanos - known.endNanos() < 0) {
        return false;
      }
      if (term.compareAndSet(known, new Term(known.endNanos(), true))) {
        return true;
      }
    }
  }

  /** Ends the hold whatever its moment is, because it ended otherwise. */
  void end() {
    while (!isOver()) {
      Term known = now();
      term.compareAndSet(known, new Term(known.endNanos(), true));
    }
  }

  /**
   * Notes that the hold may last that much longer in Redis from any moment on. To be called before
   * the request is sent, because its effect does not depend on its answer.
   *
   * @return false if the deadline is over: then nothing may be sent
   */
  boolean note(long leaseMillis) {
    notedMillis.accumulateAndGet(leaseMillis, Math::max);
    return !isOver();
  }

  /** The longest lease that a request may have set since the hold began; 0 when none was sent. */
  long notedMillis() {
    return notedMillis.get();
  }

  /** Whether Redis may keep the hold for longer than this deadline. */
  boolean mayOutlive() {
    return notedMillis() > 0;
  }
}
