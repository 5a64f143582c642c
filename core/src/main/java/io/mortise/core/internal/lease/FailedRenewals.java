package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.pool.CommandException;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs the renewals of one client that fail: one warning a minute, however many holds it has. When
 * Redis is away all of them fail, for the same reason. The others are logged at DEBUG.
 *
 * <p><b>Threads.</b> Any thread may call any method. The compare-and-set of the next warning's time
 * decides which thread warns.
 */
public final class FailedRenewals {
  private static final Logger LOG = LoggerFactory.getLogger(FailedRenewals.class);
  static final long PAUSE_NANOS = 60_000_000_000L;

  private final Ticker ticker;
  private final AtomicLong nextWarningNanos;
  private final AtomicLong unwarned = new AtomicLong();

  public FailedRenewals(Ticker ticker) {
    this.ticker = ticker;
    this.nextWarningNanos = new AtomicLong(ticker.read());
  }

  /** Logs the failure of a renewal, which has put a hold at risk. */
  void log(String lockName, CommandException fault) {
    long now = ticker.read();
    long next = nextWarningNanos.get();
    if (now - next >= 0 && nextWarningNanos.compareAndSet(next, now + PAUSE_NANOS)) {
      LOG.warn(
          "lock '{}': a renewal failed: {} ({} more holds of this client since the last warning;"
              + " a hold that is not renewed before its lease has run out is lost)",
          lockName,
          fault.getMessage(),
          unwarned.getAndSet(0));
    } else {
      unwarned.incrementAndGet();
      LOG.debug("lock '{}': a renewal failed: {}", lockName, fault.getMessage());
    }
  }
}
