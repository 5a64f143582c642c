package io.mortise.connection.concurrent;

/**
 * A task of a {@link Scheduler}, with a due time. Times are those of the client's ticker.
 *
 * <p><b>Threads.</b> Any thread may ask for the times; the scheduler's thread runs the task.
 */
public interface ScheduledTask {
  /**
   * Returns when {@link #onDue} has to be called; must not call the scheduler. The time may change;
   * if it becomes earlier, the task calls {@link Scheduler#reschedule}.
   */
  long dueNanos();

  /** Returns when {@link #onDue} may be called if another task is due. */
  default long mayRunAtNanos() {
    return dueNanos();
  }

  /** Runs the task. Must make {@link #dueNanos} later, or remove the task. Must not block. */
  void onDue(long nowNanos);
}
