package io.mortise.connection.topology;

import io.mortise.connection.concurrent.ScheduledTask;
import java.util.function.BooleanSupplier;

/**
 * Makes the topology check regularly whether another server has replaced one. Everything that the
 * former server knew is then checked: holds are verified at once, and waiters subscribe again and
 * try again.
 *
 * <p><b>Threads.</b> The scheduler's thread calls {@code onDue}; any thread may read the due time.
 */
public final class FailoverMonitor implements ScheduledTask {
  private static final long PERIOD_NANOS = 200_000_000L;

  private final Topology topology;
  private final BooleanSupplier inUse;
  private volatile long dueNanos;

  /**
   * @param inUse tests whether the client holds or waits for a lock
   */
  public FailoverMonitor(Topology topology, BooleanSupplier inUse, long nowNanos) {
    this.topology = topology;
    this.inUse = inUse;
    this.dueNanos = nowNanos + PERIOD_NANOS;
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  @Override
  public void onDue(long nowNanos) {
    dueNanos = nowNanos + PERIOD_NANOS;
    topology.checkForFailover(inUse.getAsBoolean());
  }
}
