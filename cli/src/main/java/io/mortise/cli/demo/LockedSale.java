package io.mortise.cli.demo;

import io.mortise.cli.worker.Entry;
import io.mortise.cli.worker.WorkerThreadContext;
import io.mortise.core.DistributedLock;

/** Selling under a lock: the worker's side of most chapters. */
final class LockedSale {

  /** What a thread does while it holds the lock. */
  interface Section {

    /** Serves one customer and reports it; false when there is nothing left for the others. */
    boolean sell(Entry visit) throws InterruptedException;
  }

  private LockedSale() {}

  /** Serves the customers of this till, each under the lock. */
  static void run(WorkerThreadContext till, DistributedLock lock) throws InterruptedException {
    run(till, lock, visit -> sell(till, visit));
  }

  /** The same, with a section of the caller's. */
  static void run(WorkerThreadContext till, DistributedLock lock, Section section)
      throws InterruptedException {
    boolean more = true;
    for (int i = 0; i < till.customers() && more; i++) {
      till.awaitCustomer();
      FaultedWorker.keepSomeFor(till);
      more = serve(lock, section);
    }
  }

  /** Serves one customer under the lock; false when there is nothing left for the others. */
  static boolean serve(DistributedLock lock, Section section) throws InterruptedException {
    long asked = System.nanoTime();
    lock.lock();
    try {
      long entered = System.nanoTime();
      return section.sell(new Entry(lock.lease().fencingToken(), asked, entered));
    } finally {
      lock.unlock();
    }
  }

  /** One customer: reads the stock, computes, writes it back, reports. */
  static boolean sell(WorkerThreadContext till, Entry visit) {
    boolean sold = till.sellOne();
    till.reportHeld(visit, sold);
    return sold;
  }
}
