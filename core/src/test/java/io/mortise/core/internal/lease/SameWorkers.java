package io.mortise.core.internal.lease;

import java.util.concurrent.Executor;

/** One executor for all notifications. */
public final class SameWorkers {
  private SameWorkers() {}

  public static NotificationWorkers of(Executor worker) {
    return new NotificationWorkers(worker, worker, worker);
  }
}
