package com.example.scheduledjob;

import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LockClient;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** A node whose scheduler runs a job that one node has to run each time. Start it twice. */
public final class ReportNode {
  private final DistributedLock lock;
  private final Consumer<Lease> report;

  ReportNode(LockClient locks, Consumer<Lease> report) {
    this.lock =
        locks
            .lock("report")
            .withLease(Duration.ofMinutes(1)) // at most; not renewed
            .atLeast(Duration.ofMillis(500)); // longer than the nodes' clocks differ
    this.report = report;
  }

  /** Writes the report, unless another node is writing it. */
  void runIfFirst() {
    try {
      if (lock.tryLock()) {
        try {
          report.accept(lock.lease());
        } finally {
          lock.unlock();
        }
      }
    } catch (RuntimeException e) { // would end the schedule
      System.err.println("no report from this node: " + e);
    }
  }

  /**
   * Schedules the job each second.
   *
   * @param arguments the URI of Redis, and for how many seconds to run
   */
  public static void main(String... arguments) throws InterruptedException {
    String uri = arguments.length > 0 ? arguments[0] : "redis://localhost:6379";
    long seconds = arguments.length > 1 ? Long.parseLong(arguments[1]) : 60;
    ScheduledExecutorService scheduler = Executors.newSingleThreadScheduledExecutor();
    try (LockClient locks = LockClient.create(uri)) {
      ReportNode node =
          new ReportNode(locks, lease -> System.out.println("report " + lease.fencingToken()));
      scheduler.scheduleAtFixedRate(node::runIfFirst, 0, 1, TimeUnit.SECONDS);
      scheduler.awaitTermination(seconds, TimeUnit.SECONDS);
      scheduler.shutdown();
      scheduler.awaitTermination(1, TimeUnit.MINUTES); // the locks are closed last
    }
  }
}
