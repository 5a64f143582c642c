package io.mortise.schedules.runtime;

import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;

/**
 * A thread that runs only when its {@link Schedule} lets it.
 *
 * <p><b>Threads.</b> The fields belong to the thread that runs at the moment; handing over the turn
 * orders the accesses. Any thread may set {@code permit}.
 */
final class ControlledThread {
  /** The {@code wakeAtNanos} of a thread that waits without a time limit. */
  static final long NEVER = Long.MAX_VALUE;

  final Schedule schedule;
  final Thread thread;

  /** The number in the order of starts. */
  final int index;

  /** Released once for each turn. */
  final Semaphore turn = new Semaphore(0);

  /** The permit of {@code LockSupport.unpark}. */
  volatile boolean permit;

  /** The condition for which a blocked thread waits; null when it can run. */
  BooleanSupplier readiness;

  /** The virtual time at which a blocked thread can run all the same. */
  long wakeAtNanos = NEVER;

  /** The call in which a blocked thread waits, for the report. */
  String blockedIn = "";

  /** Whether the thread executes code of the scheduler, whose own blocking is real. */
  boolean inScheduler;

  /** The number of nested sections in which the thread keeps its turn. */
  int atomicDepth;

  /** With a strategy of priorities: the larger runs. */
  long priority;

  boolean ended;

  ControlledThread(Schedule schedule, Thread thread, int index) {
    this.schedule = schedule;
    this.thread = thread;
    this.index = index;
  }

  boolean canRun(long nowNanos) {
    return !ended && (readiness == null || wakeAtNanos <= nowNanos || readiness.getAsBoolean());
  }

  @Override
  public String toString() {
    return index + " " + thread.getName();
  }
}
