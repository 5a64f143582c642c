package io.mortise.core.internal;

/** A short task that the scheduler has a worker run once, unless it is taken back before. */
final class Later implements Scheduler.Timed {
  private final Engine engine;
  private final Runnable task;
  private final long dueNanos;

  Later(Engine engine, Runnable task, long dueNanos) {
    this.engine = engine;
    this.task = task;
    this.dueNanos = dueNanos;
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  @Override
  public void onTime(long nowNanos) {
    engine.soon(task);
    engine.scheduler().remove(this); // after it, so that an error loses nothing
  }
}
