package io.mortise.core.internal.acquire;

import com.google.common.base.Ticker;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.internal.handoff.LocalQueue.Outage;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The row of faults that one acquisition has met, with a limit for its duration.
 *
 * <p><b>Threads.</b> Confined to the thread that acquires.
 */
final class FaultTimeout {
  private final Ticker ticker;
  private final Duration limit;
  private @Nullable CommandException lastFault;
  private long sinceNanos;

  FaultTimeout(Ticker ticker, Duration limit) {
    this.ticker = ticker;
    this.limit = limit;
  }

  /** Records the outcome of an attempt; null when it was answered, which ends the row. */
  void record(@Nullable CommandException fault) {
    if (fault != null && lastFault == null) {
      sinceNanos = ticker.read();
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
    return lastFault != null && ticker.read() - sinceNanos >= limit.toNanos();
  }
}
