package io.mortise.core.internal.lease;

import com.google.common.base.Ticker;
import io.mortise.connection.concurrent.ScheduledTask;
import java.time.InstantSource;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

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
 * <p><b>Threads.</b> Any thread may call {@code watch}; the scheduler's thread calls {@code onDue}.
 * {@code watch} sets {@code used} <em>before</em> it reads {@code armed}; the scheduler clears
 * {@code armed} <em>before</em> it reads {@code used}. One of the two sees the other. Nothing here
 * may block, so the callback does not write to the log itself.
 */
public final class SuspensionMonitor implements ScheduledTask {
  private static final long PERIOD_NANOS = 500_000_000L;
  private static final long TOLERATED_NANOS = 250_000_000L;

  /** The time after the last use: longer than any attempt is under way. */
  private static final long LINGER_NANOS = 60_000_000_000L;

  private static final long IDLE_NANOS = 3_600_000_000_000L;

  /** Both clocks at one moment. */
  private record Reading(long wallMillis, long nanos) {
    /** Returns how much further the wall clock has advanced since then. */
    long wallAheadNanos(Reading before) {
      return TimeUnit.MILLISECONDS.toNanos(wallMillis - before.wallMillis) - (nanos - before.nanos);
    }
  }

  private final Ticker ticker;
  private final InstantSource wallClock;
  private final BooleanSupplier inUse;
  private final Consumer<ScheduledTask> reschedule;
  private final LongConsumer onJump;

  /** The last reading; null while there is nothing to watch. */
  private volatile @Nullable Reading last;

  /** Whether an attempt has begun since the last look. */
  private final AtomicBoolean used = new AtomicBoolean();

  private volatile boolean armed;
  private volatile long dueNanos;

  /** The last look that found the client used; only the scheduler's thread reads and writes it. */
  private long usedNanos;

  /**
   * Becomes a housekeeping task of the scheduler, for as long as the client lives.
   *
   * @param inUse tests whether the client holds a lock
   * @param reschedule notifies the scheduler that a task has become due earlier
   * @param onJump receives by how many milliseconds the wall clock has jumped
   */
  public SuspensionMonitor(
      Ticker ticker,
      InstantSource wallClock,
      BooleanSupplier inUse,
      Consumer<ScheduledTask> reschedule,
      LongConsumer onJump) {
    this.ticker = ticker;
    this.wallClock = wallClock;
    this.inUse = inUse;
    this.reschedule = reschedule;
    this.onJump = onJump;
    this.usedNanos = ticker.read();
    this.dueNanos = usedNanos + IDLE_NANOS;
  }

  /** Begins to watch the clocks, or goes on. To be called before each attempt is sent. */
  void watch() {
    if (!used.get()) {
      used.set(true);
    }
    if (!armed) {
      armed = true;
      try {
        arm(read());
        reschedule.accept(this);
      } catch (Throwable e) {
        armed = false; // the next attempt does it
        throw e;
      }
    }
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  @Override
  public void onDue(long nowNanos) {
    Reading before = last;
    Reading here = read();
    arm(here);
    long aheadNanos = before == null ? 0 : here.wallAheadNanos(before);
    if (aheadNanos > TOLERATED_NANOS) {
      onJump.accept(TimeUnit.NANOSECONDS.toMillis(aheadNanos));
    }
    if (isUsed()) {
      usedNanos = here.nanos();
    }
    if (here.nanos() - usedNanos < LINGER_NANOS) {
      return;
    }
    last = null;
    dueNanos = here.nanos() + IDLE_NANOS;
    armed = false;
    if (isUsed()) { // by an attempt that has just begun
      armed = true;
      usedNanos = here.nanos();
      arm(here);
    }
  }

  /** Returns whether the client holds a lock, or has sent an attempt since the last call. */
  private boolean isUsed() {
    return used.getAndSet(false) || inUse.getAsBoolean();
  }

  private void arm(Reading here) {
    last = here;
    dueNanos = here.nanos() + PERIOD_NANOS;
  }

  private Reading read() {
    return new Reading(wallClock.millis(), ticker.read());
  }
}
