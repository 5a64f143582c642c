package io.mortise.core.internal;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Sees that the server has become another one, and then has everything looked at that was said to
 * the old one: holds are verified at once, and whoever waits subscribes anew and asks again.
 *
 * <p>It asks nobody: who is master is known inside the process. Belongs to the scheduler's thread.
 */
final class FailoverWatch implements Scheduler.Timed {
  private static final long EVERY_NANOS = 200_000_000L;

  private final Engine engine;
  private final RedisNode node;
  private @Nullable Object known;
  private volatile long dueNanos;

  FailoverWatch(Engine engine, RedisNode node) {
    this.engine = engine;
    this.node = node;
    this.dueNanos = engine.nanos() + EVERY_NANOS;
  }

  @Override
  public long dueNanos() {
    return dueNanos;
  }

  @Override
  public void onTime(long nowNanos) {
    dueNanos = nowNanos + EVERY_NANOS;
    Object now = node.server();
    if (known != null && !Objects.equals(known, now) && now != null) {
      Engine.LOG.info("{} is {} now, no more {}: holds are verified", node, now, known);
      engine.serverChanged();
    }
    known = now == null ? known : now;
  }
}
