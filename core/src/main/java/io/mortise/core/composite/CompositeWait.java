package io.mortise.core.composite;

import io.mortise.connection.concurrent.Backoff;
import io.mortise.core.spi.LeaseSource;
import io.mortise.core.spi.LeaseTerms;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * The wait of one acquisition of several locks: the time that is left, the pauses in it, and the
 * interrupts during it.
 *
 * <p><b>Threads.</b> Confined to the thread that waits.
 */
public final class CompositeWait {
  private final LeaseSource source;
  private final LeaseTerms terms;
  private final long startNanos;
  private boolean interrupted;

  /** Starts the time of the terms. */
  public CompositeWait(LeaseSource source, LeaseTerms terms) {
    this.source = source;
    this.terms = terms;
    this.startNanos = source.nanoTime();
  }

  public long startNanos() {
    return startNanos;
  }

  /** Returns the rest of the wait; not positive when it is over. */
  public long leftNanos() {
    return terms.isUnbounded()
        ? LeaseTerms.FOREVER / 2
        : terms.waitNanos() - (source.nanoTime() - startNanos);
  }

  /**
   * Returns a random pause: between half and all of a duration that doubles with each failure, up
   * to the maximum.
   */
  public static long backoffNanos(long firstNanos, long maxNanos, int failures) {
    return Backoff.pauseNanos(
        firstNanos, maxNanos, failures, ThreadLocalRandom.current().nextDouble());
  }

  /**
   * Pauses for that time, but not longer than the rest of the wait.
   *
   * @throws InterruptedException if the terms say that an interrupt ends the wait
   */
  public void pause(long nanos) throws InterruptedException {
    long endNanos = source.nanoTime() + Math.min(nanos, leftNanos());
    while (true) {
      try {
        TimeUnit.NANOSECONDS.sleep(endNanos - source.nanoTime());
        return;
      } catch (InterruptedException e) {
        if (terms.interruptible()) {
          throw e;
        }
        interrupted = true;
      }
    }
  }

  /**
   * Throws if the thread is interrupted and the terms say that an interrupt ends the wait;
   * otherwise remembers the interrupt.
   */
  public void checkInterrupt() throws InterruptedException {
    if (Thread.interrupted()) {
      if (terms.interruptible()) {
        throw new InterruptedException(
            "interrupted while waiting for lock '" + source.name() + "'");
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
