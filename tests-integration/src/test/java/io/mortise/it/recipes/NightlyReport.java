package io.mortise.it.recipes;

import io.mortise.core.DistributedLock;
import io.mortise.core.LockClient;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A recipe of docs/recipes.md: a scheduled job that runs on one node. */
final class NightlyReport implements Runnable {
  private static final Logger LOG = LoggerFactory.getLogger(NightlyReport.class);

  private final DistributedLock lock;
  private final Report report;

  NightlyReport(LockClient locks, Report report) {
    this.lock =
        locks
            .lock("nightly-report")
            .withLease(Duration.ofMinutes(30)) // at most
            .atLeast(Duration.ofMinutes(5));
    this.report = report;
  }

  /** Runs on the scheduler of every node at the same time. */
  @Override
  public void run() {
    try {
      if (!lock.tryLock()) {
        return; // another node runs it
      }
      try {
        report.write(lock.lease());
      } finally {
        lock.unlock();
      }
    } catch (RuntimeException e) { // would end the schedule of a ScheduledExecutorService
      LOG.warn("no nightly report from this node", e);
    }
  }
}
