package io.mortise.core.internal;

/**
 * Has the deployment look whether another server has taken the place of one; everything is then
 * looked at that was said to the old one: holds are verified at once, and whoever waits subscribes
 * anew and asks again.
 */
final class FailoverWatch implements Scheduler.Timed {
  private static final long EVERY_NANOS = 200_000_000L;

  private final Engine engine;
  private final Deployment servers;
  private volatile long dueNanos;

  FailoverWatch(Engine engine, Deployment servers) {
    this.engine = engine;
    this.servers = servers;
    this.dueNanos = engine.nanos() + EVERY_NANOS;
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  @Override
  public void onTime(long nowNanos) {
    dueNanos = nowNanos + EVERY_NANOS;
    servers.look(engine.isInUse());
  }
}
