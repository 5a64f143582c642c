package io.mortise.core.internal;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * A short look at what a thread waits for, before it goes to sleep: to be put to sleep and woken up
 * takes longer than a server that is near takes to answer. Where many threads wait, one that looks
 * lets another go on meanwhile.
 *
 * <p>Nobody is to pay for it who gains nothing. So nobody looks for a while
 *
 * <ul>
 *   <li>after {@value #MOST_IN_VAIN} looks of each in a row that saw nothing: the server is not
 *       near;
 *   <li>when more than about one in {@value #SELDOM} took far longer than it should: then others
 *       want the processors, and who yields to them comes back late, where one who slept would have
 *       been put before them.
 * </ul>
 *
 * <p>Safe for any thread. The counts are of no consequence but for the speed, and may be wrong by a
 * few.
 */
final class Glance {
  /** How long one lasts at the most, when nobody else wants the processor. */
  static final long LONGEST_NANOS = 30_000;

  /** A look that took so long for each who may be looking was not over when it should have been. */
  static final long LATE_NANOS = 32_000;

  /** With more there would be no telling. */
  static final int MOST_CROWD = 64;

  /** For how long nobody looks when it was of no use. */
  static final long PAUSE_NANOS = 1_000_000_000;

  static final int MOST_IN_VAIN = 8;
  static final int SELDOM = 16;

  /** So many of each are forgiven in a row: a pause of the whole process makes all of them late. */
  static final int MOST_LATE = 8;

  private final long longestNanos;
  private final LongSupplier clock;
  private final Runnable pause;
  private final AtomicInteger inVain = new AtomicInteger();
  private final AtomicInteger late = new AtomicInteger();
  private volatile long notBeforeNanos;

  Glance() {
    this(LONGEST_NANOS, System::nanoTime, Glance::letOthersGoOn);
  }

  /**
   * @param longestNanos with 0 there is none
   * @param pause what to do between one look and the next
   */
  Glance(long longestNanos, LongSupplier clock, Runnable pause) {
    this.longestNanos = longestNanos;
    this.clock = clock;
    this.pause = pause;
    notBeforeNanos = clock.getAsLong();
  }

  @SuppressWarnings("ThreadPriorityCheck") // nothing depends on who runs when it yields
  private static void letOthersGoOn() {
    Thread.yield();
  }

  /**
   * Whether it is there, now or within a moment.
   *
   * @param crowd how many threads may be looking
   */
  boolean at(BooleanSupplier there, int crowd) {
    if (there.getAsBoolean()) {
      return true;
    }
    if (longestNanos == 0) {
      return false;
    }
    long startNanos = clock.getAsLong();
    if (startNanos - notBeforeNanos < 0) {
      return false;
    }
    long nanos = 0;
    boolean seen = false;
    while (!seen && nanos < longestNanos) {
      pause.run();
      nanos = clock.getAsLong() - startNanos;
      seen = there.getAsBoolean();
    }
    if (!isOfUse(seen, nanos, Math.min(crowd, MOST_CROWD))) {
      inVain.set(0);
      late.set(0);
      notBeforeNanos = clock.getAsLong() + PAUSE_NANOS;
    }
    return seen;
  }

  private boolean isOfUse(boolean seen, long nanos, int crowd) {
    if (nanos > crowd * LATE_NANOS) {
      return late.addAndGet(SELDOM) < MOST_LATE * SELDOM * crowd;
    }
    if (late.get() > 0) {
      late.decrementAndGet();
    }
    if (!seen) {
      return inVain.incrementAndGet() < MOST_IN_VAIN * crowd;
    }
    if (inVain.get() > 0) {
      inVain.set(0);
    }
    return true;
  }
}
