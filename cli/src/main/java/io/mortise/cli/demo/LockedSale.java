package io.mortise.cli.demo;

import io.mortise.cli.worker.Entry;
import io.mortise.cli.worker.WorkerThreadContext;
import io.mortise.core.DistributedLock;

/** The sale under a lock: the worker's side of most chapters. */
final class LockedSale {

  /** The critical section of a thread. */
  interface Section {

    /** Serves one customer and reports it; false if nothing is left for the others. */
    boolean sell(Entry entry) throws InterruptedException;
  }

  private LockedSale() {}

  /** Serves the customers of this thread, each under the lock. */
  static void run(WorkerThreadContext context, DistributedLock lock) throws InterruptedException {
    run(context, lock, entry -> sell(context, entry));
  }

  /** The same, with another critical section. */
  static void run(WorkerThreadContext context, DistributedLock lock, Section section)
      throws InterruptedException {
    boolean more = true;
    for (int i = 0; i < context.customers() && more; i++) {
      context.awaitCustomer();
      FaultedWorker.keepSomeFor(context);
      more = serve(lock, section);
    }
  }

  /** Serves one customer under the lock; false if nothing is left for the others. */
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

  /** Serves one customer: reads the stock, computes, writes it back, reports. */
  static boolean sell(WorkerThreadContext context, Entry entry) {
    boolean sold = context.sellOne();
    context.reportHeld(entry, sold);
    return sold;
  }
}
