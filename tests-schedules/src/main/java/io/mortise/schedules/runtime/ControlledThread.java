package io.mortise.schedules.runtime;

import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A thread that runs only when its {@link Schedule} lets it.
 *
 * <p><b>Threads.</b> The fields belong to the thread that runs at the moment; handing over the turn
 * orders the accesses. Any thread may set {@code permit}, and may interrupt the thread.
 */
final class ControlledThread {
  /** The {@code wakeAtNanos} of a thread that waits without a time limit. */
  static final long NEVER = Long.MAX_VALUE;

  final Schedule schedule;
  final Thread thread;

  /** The number in the order of starts. */
  final int index;

  /** Whether the thread has the turn, or is to take it. */
  private volatile boolean turn;

  /** Whether an interrupt has come while the thread waits for its turn. */
  private volatile boolean interruptKept;

  /** The permit of {@code LockSupport.unpark}. */
  volatile boolean permit;

  /** The condition for which a blocked thread waits; null when it can run. */
  BooleanSupplier readiness;

  /** The virtual time at which a blocked thread can run all the same. */
  long wakeAtNanos = NEVER;

  /** The call in which a blocked thread waits, for the report. */
  String blockedIn = "";

  /** Whether the thread executes code of the scheduler, whose own blocking is real, or begins. */
  boolean inScheduler = true;

  /** The number of nested sections in which the thread keeps its turn. */
  int atomicDepth;

  /** The steps that the thread leaves out in a loop. */
  final Repeats repeats;

  /** With a strategy of priorities: the larger runs. */
  long priority;

  boolean ended;

  ControlledThread(Schedule schedule, Thread thread, int index) {
    this.schedule = schedule;
    this.thread = thread;
    this.index = index;
    this.repeats = new Repeats(schedule.random());
  }

  /** Gives the turn to this thread; called by the one that has it. */
  void giveTurn() {
    turn = true;
    LockSupport.unpark(thread);
  }

  /**
   * Waits for the turn; called by this thread. An interrupt is kept <i>before</i> it is cleared,
   * and {@link #isInterrupted} looks in the other order: it does not miss one.
   */
  void awaitTurn() {
    while (!turn) {
      LockSupport.park(this);
      if (thread.isInterrupted()) {
        interruptKept = true;
        Thread.interrupted(); // with which the thread would not park
      }
    }
    turn = false;
    if (interruptKept) {
      interruptKept = false;
      thread.interrupt();
    }
  }

  boolean isInterrupted() {
    return thread.isInterrupted() || interruptKept;
  }

  boolean canRun(long nowNanos) {
    return !ended && (readiness == null || wakeAtNanos <= nowNanos || readiness.getAsBoolean());
  }

  @Override
  public String toString() {
    return index + " " + thread.getName();
  }
}
