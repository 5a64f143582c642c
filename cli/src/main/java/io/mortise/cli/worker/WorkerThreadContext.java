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

/** One thread of a worker process: what it works on, and where it reports. */
public final class WorkerThreadContext {
  private static final long SHORTEST_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
  private static final long LONGEST_NANOS = TimeUnit.MICROSECONDS.toNanos(1500);

  /** News come so much more rarely than customers. */
  private static final int NEWS_FACTOR = 10;

  private final Job job;
  private final int thread;
  private final Connections connections;
  private final Semaphore calls;
  private final HoldPoint stay;
  private final BooleanSupplier open;
  private final Consumer<WorkerEvent> reports;

  WorkerThreadContext(
      Job job,
      int thread,
      Connections connections,
      Semaphore calls,
      HoldPoint stay,
      BooleanSupplier open,
      Consumer<WorkerEvent> reports) {
    this.job = job;
    this.thread = thread;
    this.connections = connections;
    this.calls = calls;
    this.stay = stay;
    this.open = open;
    this.reports = reports;
  }

  /** What this process is to do. */
  public Job job() {
    return job;
  }

  /** The number of this thread in its process, from 0. */
  public int thread() {
    return thread;
  }

  /** How many customers this thread serves. */
  public int customers() {
    return job.customersOf(thread);
  }

  /** The client of this process for its locks, where they are all on one server. */
  public LockClient locks() {
    return connections.locks().get(0);
  }

  /** A client for each of the servers on which the locks are. */
  public List<LockClient> allLocks() {
    return List.copyOf(connections.locks());
  }

  /** What is protected. */
  public Stock stock() {
    return new Stock(connections.shop(), job.lockName());
  }

  /** What readers and writers share. */
  public Catalogue catalogue() {
    return new Catalogue(connections.shop(), job.lockName());
  }

  /** Between which money is moved. */
  public Accounts accounts() {
    return new Accounts(connections.shop(), job.lockName());
  }

  /** Whether another customer may come: until the demo says that the shop closes. */
  public boolean isOpen() {
    return open.getAsBoolean();
  }

  /** One customer, with nothing that protects the time between reading and writing. */
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

  /** The time between reading and writing: prices, vouchers, a fraud check. */
  public void compute() {
    pass(SHORTEST_NANOS, LONGEST_NANOS);
  }

  /** The time between two customers. Nothing is protected meanwhile. */
  public void awaitCustomer() {
    pass(SHORTEST_NANOS, LONGEST_NANOS);
  }

  /** The time between two changes of the catalogue. */
  public void awaitNews() {
    pass(NEWS_FACTOR * SHORTEST_NANOS, NEWS_FACTOR * LONGEST_NANOS);
  }

  private static void pass(long shortestNanos, long longestNanos) {
    LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(shortestNanos, longestNanos));
  }

  /** Waits until the demo calls this thread, and says that it asks for the lock now. */
  public void awaitCall() throws InterruptedException {
    calls.acquire();
    reports.accept(new WorkerEvent.Asking(thread));
  }

  /**
   * Reports that this thread is inside, and stays there until the demo says to proceed. Only the
   * first thread of a process stays; for those that come later this does nothing.
   */
  public void stayInside(Entry visit) throws InterruptedException {
    if (stay.begin()) {
      reports.accept(
          new WorkerEvent.Entered(thread, visit.token(), visit.askedNanos(), visit.enteredNanos()));
      stay.awaitEnd();
    }
  }

  /** Waits outside until the demo says to proceed; from then on this does nothing. */
  public void awaitProceed() throws InterruptedException {
    stay.awaitEnd();
  }

  /**
   * Reports a visit that ends now. To be called before unlocking: then no report is missing when
   * the process is killed later.
   */
  public void reportHeld(Entry visit, boolean sold) {
    long leftNanos = System.nanoTime();
    reports.accept(
        new WorkerEvent.Held(
            thread,
            visit.mode(),
            visit.token(),
            visit.askedNanos(),
            visit.enteredNanos(),
            leftNanos,
            sold));
  }

  /**
   * Reports that this thread had the lock of that account for itself, until now. To be called
   * before unlocking.
   */
  public void reportKept(Account account, long sinceNanos) {
    reports.accept(new WorkerEvent.Kept(thread, account, sinceNanos, System.nanoTime()));
  }

  /** Reports something worth a mark on the time line, at this moment. */
  public void report(EventType note, long token, String detail) {
    reports.accept(new WorkerEvent.Noted(thread, note, token, System.nanoTime(), detail));
  }
}
