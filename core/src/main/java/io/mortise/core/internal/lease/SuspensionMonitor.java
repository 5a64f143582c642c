package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.ScheduledTask;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * Notices when the wall clock has advanced further than the client's clock.
 *
 * <p>On Linux {@link System#nanoTime} stands still while the machine is suspended, and behind some
 * hypervisors while it is paused (CLOCK_MONOTONIC in <a
 * href="https://man7.org/linux/man-pages/man2/clock_gettime.2.html">clock_gettime(2)</a>). So no
 * deadline of a lease passes here, although the lease ends in Redis. The wall clock is set when the
 * machine wakes, and all holds are verified. If somebody has set it for another reason, the price
 * is one verification.
 *
 * <p><b>Threads.</b> The scheduler's thread calls {@code onDue}, where nothing may block, so the
 * callback does not write to the log itself; any thread may read the due time.
 */
public final class SuspensionMonitor implements ScheduledTask {
  private static final long PERIOD_NANOS = 500_000_000L;
  private static final long TOLERATED_NANOS = 250_000_000L;

  /** Both clocks at one moment. */
  private record Reading(long wallMillis, long nanos) {
    /** Returns how much further the wall clock has advanced since then. */
    long wallAheadNanos(Reading before) {
      return TimeUnit.MILLISECONDS.toNanos(wallMillis - before.wallMillis) - (nanos - before.nanos);
    }
  }

  private final Ticker ticker;
  private final InstantSource wallClock;
  private final LongConsumer onJump;
  private Reading last;
  private volatile long dueNanos;

  /**
   * Becomes a housekeeping task of the scheduler, for as long as the client lives.
   *
   * @param onJump receives by how many milliseconds the wall clock has jumped
   */
  public SuspensionMonitor(Ticker ticker, InstantSource wallClock, LongConsumer onJump) {
    this.ticker = ticker;
    this.wallClock = wallClock;
    this.onJump = onJump;
    this.last = read();
    this.dueNanos = last.nanos() + PERIOD_NANOS;
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  @Override
  public void onDue(long nowNanos) {
    Reading now = read();
    dueNanos = now.nanos() + PERIOD_NANOS;
    long aheadNanos = now.wallAheadNanos(last);
    if (aheadNanos > TOLERATED_NANOS) {
      onJump.accept(TimeUnit.NANOSECONDS.toMillis(aheadNanos));
    }
    last = now; // not before: after an error the next look finds the jump again
  }

  private Reading read() {
    return new Reading(wallClock.millis(), ticker.read());
  }
}
