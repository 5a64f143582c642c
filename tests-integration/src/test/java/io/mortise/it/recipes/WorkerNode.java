package io.mortise.it.recipes;

import io.mortise.core.LockClient;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/** A recipe of docs/recipes.md: the end of a process. */
final class WorkerNode {
  private final LockClient locks;
  private final Duration grace;
  private final ExecutorService threads = Executors.newCachedThreadPool();

  WorkerNode(LockClient locks, Duration grace) {
    this.locks = locks;
    this.grace = grace;
  }

  void submit(Runnable work) {
    threads.execute(work);
  }

  // snippet: close
  /** Ends the node: from a shutdown hook, or as the destroy method of a bean. */
  void close() throws InterruptedException {
    try {
      threads.shutdown(); // 1. no new work; what has begun may end
      if (!threads.awaitTermination(grace.toMillis(), TimeUnit.MILLISECONDS)) {
        threads.shutdownNow(); // 2. interrupts work and waits
        threads.awaitTermination(grace.toMillis(), TimeUnit.MILLISECONDS);
      }
    } finally {
      locks.close(); // 3. at last: releases what is still held, and reports it lost
    }
  }
  // end
}
