package io.mortise.core.spi;

import io.mortise.connection.concurrent.Backoff;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The wait of the caller of one acquisition, for as long as its terms say: the time that is left,
 * the pauses in it, and the interrupts during it.
 *
 * <p><b>Threads.</b> Confined to the thread that waits.
 */
public final class CallerWait {
  /**
   * The time that everything after the end of a bounded wait may take together: the last attempt,
   * and leaving a queue. The round trip of a slow network.
   */
  public static final long ROUND_TRIP_NANOS = 200_000_000L;

  private final LeaseTerms terms;
  private final String lockName;
  private final LongSupplier clock;
  private final long startNanos;
  private boolean interrupted;

  /** A wait for something, for at most a time. */
  @FunctionalInterface
  public interface InterruptibleWait {
    /** Waits for at most the time; an interrupt ends it. */
    void await(long nanos) throws InterruptedException;
  }

  /**
   * Starts the time of the terms.
   *
   * @param lockName for messages
   * @param clock returns nanoseconds, as {@link LeaseSource#nanoTime}
   */
  public CallerWait(LeaseTerms terms, String lockName, LongSupplier clock) {
    this.terms = terms;
    this.lockName = lockName;
    this.clock = clock;
    this.startNanos = clock.getAsLong();
  }

  /** Starts the time of the terms, by the clock of the source. */
  public CallerWait(LeaseTerms terms, LeaseSource source) {
    this(terms, source.name(), source::nanoTime);
  }

  /** Returns when the wait began, by its clock. */
  public long startNanos() {
    return startNanos;
  }

  /** Returns the rest of the wait; not positive when it is over. */
  public long leftNanos() {
    return terms.isUnbounded()
        ? LeaseTerms.FOREVER / 2
        : terms.waitNanos() - (clock.getAsLong() - startNanos);
  }

  /** Returns whether a bounded wait is over, and the round trip that may follow it too. */
  public boolean isTimeUp() {
    return terms.waitNanos() > 0 && leftNanos() + ROUND_TRIP_NANOS <= 0;
  }

  /**
   * Returns a random pause: between half and all of a duration that doubles with each failure, up
   * to the maximum.
   *
   * @param random from 0 inclusive to 1 exclusive
   */
  public static long backoffNanos(long firstNanos, long maxNanos, int failures, double random) {
    return Backoff.pauseNanos(firstNanos, maxNanos, failures, random);
  }

  /**
   * Pauses for that time, but not longer than the rest of the wait.
   *
   * @throws InterruptedException if the terms say that an interrupt ends the wait
   */
  public void pause(long nanos) throws InterruptedException {
    await(nanos, TimeUnit.NANOSECONDS::sleep);
  }

  /**
   * Waits for at most that time and the rest of the wait. An interrupt starts the wait again, for
   * the rest of that time.
   *
   * @throws InterruptedException if the terms say that an interrupt ends the wait
   */
  public void await(long nanos, InterruptibleWait pause) throws InterruptedException {
    long endNanos = clock.getAsLong() + Math.min(nanos, leftNanos());
    while (true) {
      try {
        pause.await(endNanos - clock.getAsLong());
        return;
      } catch (InterruptedException e) {
        if (terms.interruptible()) {
          throw interruption(lockName);
        }
        interrupted = true;
      }
    }
  }

  /** Returns the exception for an interrupt that ends a wait, with the name of the lock. */
  public static InterruptedException interruption(String lockName) {
    return new InterruptedException("interrupted while waiting for lock '" + lockName + "'");
  }

  /**
   * Throws if the thread is interrupted and the terms say that an interrupt ends the wait;
   * otherwise remembers the interrupt.
   */
  public void checkInterrupt() throws InterruptedException {
    if (Thread.interrupted()) {
      if (terms.interruptible()) {
        throw interruption(lockName);
      }
      interrupted = true;
    }
  }

  /** Sets the interrupt status again if an interrupt was remembered. */
  public void restoreInterrupt() {
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
