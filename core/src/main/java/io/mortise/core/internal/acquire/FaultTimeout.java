package io.mortise.core.internal.acquire;

import com.google.common.base.Ticker;
import io.mortise.connection.pool.CommandException;
import io.mortise.core.internal.handoff.LocalQueue.Outage;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The faults that one acquisition has met in a row, and whether that has gone on for too long. */
final class FaultTimeout {
  private final Ticker ticker;
  private final Duration limit;
  private @Nullable CommandException last;
  private long sinceNanos;

  FaultTimeout(Ticker ticker, Duration limit) {
    this.ticker = ticker;
    this.limit = limit;
  }

  /** Notes how an attempt went; null when it was answered, which ends the row. */
  void record(@Nullable CommandException fault) {
    if (fault != null && last == null) {
      sinceNanos = ticker.read();
    }
    last = fault;
  }

  /** Takes over what the one before in the line ran into, as far as this one was waiting then. */
  void adopt(Outage trouble, long waitingSinceNanos) {
    last = trouble.fault();
    sinceNanos =
        trouble.sinceNanos() - waitingSinceNanos > 0 ? trouble.sinceNanos() : waitingSinceNanos;
  }

  /** The last fault of the row; null when the last attempt was answered. */
  @Nullable CommandException lastFault() {
    return last;
  }

  /** Whether there has been no answer for as long as {@code LockOptions.outageTimeout} allows. */
  boolean isExpired() {
    return last != null && ticker.read() - sinceNanos >= limit.toNanos();
  }
}
