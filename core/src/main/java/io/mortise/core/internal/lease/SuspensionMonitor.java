package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
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
 * <p><b>Threads.</b> Confined to the thread of the scheduler, after its construction. Nothing may
 * block there, so the callback does not write to the log itself.
 */
public final class SuspensionMonitor {
  /** The time from one look to the next. */
  public static final long PERIOD_NANOS = 500_000_000L;

  private static final long TOLERATED_NANOS = 250_000_000L;

  private final Ticker ticker;
  private final InstantSource wallClock;
  private final LongConsumer onJump;
  private long lastAheadNanos;

  /**
   * @param onJump receives by how many milliseconds the wall clock has jumped
   */
  public SuspensionMonitor(Ticker ticker, InstantSource wallClock, LongConsumer onJump) {
    this.ticker = ticker;
    this.wallClock = wallClock;
    this.onJump = onJump;
    this.lastAheadNanos = aheadNanos();
  }

  /** Looks at both clocks. */
  public void look() {
    long aheadNanos = aheadNanos();
    long jumpNanos = aheadNanos - lastAheadNanos;
    if (jumpNanos > TOLERATED_NANOS) {
      onJump.accept(TimeUnit.NANOSECONDS.toMillis(jumpNanos));
    }
    lastAheadNanos = aheadNanos; // not before: after an error the next look finds the jump again
  }

  /**
   * Returns how far the wall clock is ahead of the client's clock; only a change says something.
   */
  private long aheadNanos() {
    return TimeUnit.MILLISECONDS.toNanos(wallClock.millis()) - ticker.read();
  }
}
