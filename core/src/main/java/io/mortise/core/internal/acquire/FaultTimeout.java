package io.mortise.core.internal.acquire;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.Backoff;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.internal.handoff.FaultSeries;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockName;
import java.time.Duration;
import java.util.function.DoubleSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The consecutive faults that one acquisition has met, with a limit for their duration, and the
 * pauses after them.
 *
 * <p><b>Threads.</b> Confined to the thread that acquires.
 */
final class FaultTimeout {
  private static final long FIRST_PAUSE_NANOS = 20_000_000L;
  private static final long MAX_PAUSE_NANOS = 500_000_000L;

  private final Ticker ticker;
  private final Duration outageTimeout;
  private final DoubleSupplier random;
  private final LockName name;
  private final LeaseTerms terms;
  private @Nullable CommandException lastFault;
  private long sinceNanos;

  /** The pauses since the last reset. */
  private int pauses;

  /**
   * @param random returns values from 0 inclusive to 1 exclusive
   */
  FaultTimeout(
      Ticker ticker,
      Duration outageTimeout,
      DoubleSupplier random,
      LockName name,
      LeaseTerms terms) {
    this.ticker = ticker;
    this.outageTimeout = outageTimeout;
    this.random = random;
    this.name = name;
    this.terms = terms;
  }

  /** Records the outcome of an attempt; null when it was answered, which ends them. */
  void record(@Nullable CommandException fault) {
    if (fault != null && lastFault == null) {
      sinceNanos = ticker.read();
    }
    lastFault = fault;
  }

  /**
   * Adopts what the previous owner of the permit has met, counted from the start of this wait.
   * Throws as {@link #throwIfExpired} if another attempt would show nothing new.
   *
   * @param faults null when its last attempt was answered
   */
  void adopt(@Nullable FaultSeries faults, long waitingSinceNanos) {
    if (faults == null) {
      lastFault = null;
      return;
    }
    lastFault = faults.fault();
    sinceNanos =
        faults.sinceNanos() - waitingSinceNanos > 0 ? faults.sinceNanos() : waitingSinceNanos;
    if (faults.isFresh(ticker.read())) {
      throwIfExpired();
    }
  }

  /** Returns the last fault; null when the last attempt was answered. */
  @Nullable CommandException lastFault() {
    return lastFault;
  }

  /** Returns whether the faults have lasted for {@code LockOptions.outageTimeout}. */
  boolean isExpired() {
    return lastFault != null && ticker.read() - sinceNanos >= outageTimeout.toNanos();
  }

  /** Throws if the faults have lasted for that long, and the wait has no end of its own. */
  void throwIfExpired() {
    CommandException fault = lastFault;
    if (fault != null && terms.isUnbounded() && isExpired()) {
      throw LockExceptions.from(
          fault,
          name,
          "waited for Redis as long as LockOptions.outageTimeout, %s, allows"
              .formatted(outageTimeout));
    }
  }

  /** Returns the next pause before another attempt: each is longer than the one before. */
  long pauseNanos() {
    return Backoff.pauseNanos(FIRST_PAUSE_NANOS, MAX_PAUSE_NANOS, pauses++, random.getAsDouble());
  }

  /** Makes the next pause as short as the first. */
  void resetPause() {
    pauses = 0;
  }
}
