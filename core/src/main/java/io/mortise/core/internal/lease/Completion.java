package io.mortise.core.internal.lease;

import io.mortise.connection.concurrent.BackgroundTasks;
import io.mortise.connection.concurrent.Scheduler;

/**
 * Has a worker complete what an error has kept a thread from completing.
 *
 * <p>An acquisition or a release is entered with the scheduler when it begins, and taken back when
 * it has ended. Where an error ends it, such as a stack that overflows or a heap that is full, even
 * a call may fail. Then the last act of its thread is to set a flag, which needs neither stack nor
 * memory. The scheduler finds the flag within half a second, and a worker does the rest.
 *
 * <p><b>Threads.</b> The flag is volatile and is set last, so the worker that sees it sees all that
 * was done before, and no other thread works on it any more.
 */
public final class Completion implements Scheduler.ScheduledTask {
  private static final long LOOK_NANOS = 500_000_000L;

  /** What has to be completed. */
  public interface Work {
    /** Returns the flag: whether its thread has left it as it is. */
    boolean isBroken();

    /** Does what is still to be done; may be called again if it throws. */
    void complete();
  }

  private final Scheduler scheduler;
  private final BackgroundTasks tasks;
  private final Work work;
  private volatile long dueNanos;

  private Completion(LeaseContext context, Work work) {
    this.scheduler = context.scheduler();
    this.tasks = context.tasks();
    this.work = work;
    this.dueNanos = context.nanos() + LOOK_NANOS;
  }

  /** Enters the work, before it begins. */
  public static Completion begin(LeaseContext context, Work work) {
    Completion completion = new Completion(context, work);
    context.scheduler().add(completion);
    return completion;
  }

  /** Takes the work back: it is complete. */
  public void end() {
    scheduler.remove(this);
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  @Override
  public void onDue(long nowNanos) {
    dueNanos = nowNanos + LOOK_NANOS;
    if (work.isBroken()) {
      scheduler.remove(this);
      tasks.run(this::complete);
    }
  }

  private void complete() {
    boolean done = false;
    try {
      work.complete();
      done = true;
    } finally {
      if (!done) {
        scheduler.add(this);
      }
    }
  }
}
