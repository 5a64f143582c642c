package io.mortise.core.internal.acquire;

import io.mortise.connection.concurrent.Backoff;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.internal.handoff.Outage;
import io.mortise.core.internal.lease.LeaseContext;
import io.mortise.core.internal.lease.LockExceptions;
import io.mortise.core.spi.LeaseTerms;
import io.mortise.core.spi.LockName;
import org.jspecify.annotations.Nullable;

/**
 * The row of faults that one acquisition has met, with a limit for its duration, and the pauses
 * after them.
 *
 * <p><b>Threads.</b> Confined to the thread that acquires.
 */
final class FaultTimeout {
  private static final long FIRST_PAUSE_NANOS = 20_000_000L;
  private static final long MAX_PAUSE_NANOS = 500_000_000L;

  private final LeaseContext context;
  private final LockName name;
  private final LeaseTerms terms;
  private @Nullable CommandException lastFault;
  private long sinceNanos;

  /** The pauses after faults; null before the first. */
  private @Nullable Backoff backoff;

  FaultTimeout(LeaseContext context, LockName name, LeaseTerms terms) {
    this.context = context;
    this.name = name;
    this.terms = terms;
  }

  /** Records the outcome of an attempt; null when it was answered, which ends the row. */
  void record(@Nullable CommandException fault) {
    if (fault != null && lastFault == null) {
      sinceNanos = context.nanos();
    }
    lastFault = fault;
  }

  /** Adopts the outage of the previous owner of the permit, counted from the start of this wait. */
  void adopt(Outage outage, long waitingSinceNanos) {
    lastFault = outage.fault();
    sinceNanos =
        outage.sinceNanos() - waitingSinceNanos > 0 ? outage.sinceNanos() : waitingSinceNanos;
  }

  /** Returns the last fault of the row; null when the last attempt was answered. */
  @Nullable CommandException lastFault() {
    return lastFault;
  }

  /** Returns whether the row has lasted for {@code LockOptions.outageTimeout}. */
  boolean isExpired() {
    return lastFault != null
        && context.nanos() - sinceNanos >= context.options().outageTimeout().toNanos();
  }

  /** Throws if the row has lasted for that long, and the wait has no end of its own. */
  void throwIfExpired() {
    CommandException fault = lastFault;
    if (fault != null && terms.isUnbounded() && isExpired()) {
      throw LockExceptions.from(
          fault,
          name,
          "waited for Redis as long as LockOptions.outageTimeout, %s, allows"
              .formatted(context.options().outageTimeout()));
    }
  }

  /** Returns the next pause before another attempt: each is longer than the one before. */
  long pauseNanos() {
    Backoff pauses = backoff;
    if (pauses == null) {
      pauses = new Backoff(FIRST_PAUSE_NANOS, MAX_PAUSE_NANOS, context::random);
      backoff = pauses;
    }
    return pauses.nextNanos();
  }

  /** Makes the next pause as short as the first. */
  void resetPause() {
    backoff = null;
  }
}
