package io.mortise.connection.topology;

import io.mortise.connection.concurrent.Scheduler;
import java.util.function.BooleanSupplier;

/**
 * Has the deployment look whether another server has taken the place of one; everything is then
 * looked at that was said to the old one: holds are verified at once, and whoever waits subscribes
 * anew and asks again.
 */
public final class FailoverMonitor implements Scheduler.ScheduledTask {
  private static final long EVERY_NANOS = 200_000_000L;

  private final Topology servers;
  private final BooleanSupplier inUse;
  private volatile long dueNanos;

  /**
   * @param inUse whether anything is held or waited for
   */
  public FailoverMonitor(Topology servers, BooleanSupplier inUse, long nowNanos) {
    this.servers = servers;
    this.inUse = inUse;
    this.dueNanos = nowNanos + EVERY_NANOS;
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  @Override
  public void onDue(long nowNanos) {
    dueNanos = nowNanos + EVERY_NANOS;
    servers.checkForFailover(inUse.getAsBoolean());
  }
}
