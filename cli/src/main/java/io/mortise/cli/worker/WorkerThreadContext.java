package io.mortise.cli.worker;

import io.mortise.cli.worker.Accounts.Account;
import io.mortise.core.LockClient;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The context of one thread of a worker process: its job, its data and locks, and its reports.
 *
 * <p><b>Threads.</b> The thread itself; only {@link #report} may be called by any thread.
 */
public final class WorkerThreadContext {
  private static final long SHORTEST_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final long LONGEST_NANOS = TimeUnit.MICROSECONDS.toNanos(1500);
  private static final long SHORTEST_PAYMENT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LONGEST_PAYMENT_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  /** News are rarer than customers by this factor. */
  private static final int NEWS_FACTOR = 10;

  private final Job job;
  private final int thread;
  private final Connections connections;
  private final Semaphore calls;
  private final HoldPoint holdPoint;
  private final BooleanSupplier open;
  private final Consumer<WorkerEvent> reports;

  WorkerThreadContext(
      Job job,
      int thread,
      Connections connections,
      Semaphore calls,
      HoldPoint holdPoint,
      BooleanSupplier open,
      Consumer<WorkerEvent> reports) {
    this.job = job;
    this.thread = thread;
    this.connections = connections;
    this.calls = calls;
    this.holdPoint = holdPoint;
    this.open = open;
    this.reports = reports;
  }

  /** The job of this process. */
  public Job job() {
    return job;
  }

  /** The number of this thread in its process, from 0. */
  public int thread() {
    return thread;
  }

  /** The number of customers of this thread. */
  public int customers() {
    return job.customersOf(thread);
  }

  /** The lock client of this process, for locks on one server. */
  public LockClient locks() {
    return connections.locks().get(0);
  }

  /** The lock clients of this process, one for each server of the locks. */
  public List<LockClient> allLocks() {
    return List.copyOf(connections.locks());
  }

  /** The stock. */
  public Stock stock() {
    return new Stock(connections.data(), job.lockName());
  }

  /** The stock in parts. */
  public SplitStock splitStock() {
    return new SplitStock(connections.data(), job.lockName());
  }

  /** The catalogue that readers and writers share. */
  public Catalogue catalogue() {
    return new Catalogue(connections.data(), job.lockName());
  }

  /** The accounts of transfers. */
  public Accounts accounts() {
    return new Accounts(connections.data(), job.lockName());
  }

  /** Whether another customer may come: until the demo ends the work. */
  public boolean isOpen() {
    return open.getAsBoolean();
  }

  /** Serves one customer, without a lock around reading and writing. */
  public boolean sellOne() {
    Stock stock = stock();
    int left = stock.read();
    if (left <= 0) {
      return false;
    }
    compute();
    stock.write(left - 1);
    return true;
  }

  /** Passes the time between reading and writing: prices, vouchers, a fraud check. */
  public void compute() {
    pass(SHORTEST_NANOS, LONGEST_NANOS);
  }

  /** Passes the time of a payment, inside the critical section. */
  public void awaitPayment() {
    pass(SHORTEST_PAYMENT_NANOS, LONGEST_PAYMENT_NANOS);
  }

  /** Passes the time between two customers, outside the critical section. */
  public void awaitCustomer() {
    pass(SHORTEST_NANOS, LONGEST_NANOS);
  }

  /** Passes the time between two changes of the catalogue. */
  public void awaitNews() {
    pass(NEWS_FACTOR * SHORTEST_NANOS, NEWS_FACTOR * LONGEST_NANOS);
  }

  private static void pass(long shortestNanos, long longestNanos) {
    LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(shortestNanos, longestNanos));
  }

  /** Waits until the demo calls this thread, and reports that it requests the lock now. */
  public void awaitCall() throws InterruptedException {
    calls.acquire();
    reports.accept(new WorkerEvent.Asking(thread));
  }

  /**
   * Reports that this thread is inside, and stays there until the demo lets it proceed. Only the
   * first thread of a process stays; for later ones this does nothing.
   */
  public void stayInside(Entry entry) throws InterruptedException {
    if (holdPoint.begin()) {
      reports.accept(
          new WorkerEvent.Entered(thread, entry.token(), entry.askedNanos(), entry.enteredNanos()));
      holdPoint.awaitEnd();
    }
  }

  /** Waits outside until the demo lets the threads proceed; from then on this does nothing. */
  public void awaitProceed() throws InterruptedException {
    holdPoint.awaitEnd();
  }

  /**
   * Reports a hold that ends now. Call it before unlocking: then no report is missing if the
   * process is killed later.
   */
  public void reportHeld(Entry entry, boolean sold) {
    long leftNanos = System.nanoTime();
    reports.accept(
        new WorkerEvent.Held(
            thread,
            entry.mode(),
            entry.token(),
            entry.askedNanos(),
            entry.enteredNanos(),
            leftNanos,
            sold));
  }

  /** Reports that this thread held the lock of that account until now. Call it before unlocking. */
  public void reportKept(Account account, long sinceNanos) {
    reports.accept(new WorkerEvent.Kept(thread, account, sinceNanos, System.nanoTime()));
  }

  /** Reports an event of this moment for the time line. */
  public void report(EventType type, long token, String detail) {
    reports.accept(new WorkerEvent.Noted(thread, type, token, System.nanoTime(), detail));
  }
}
