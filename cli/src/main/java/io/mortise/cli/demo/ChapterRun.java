package io.mortise.cli.demo;

import com.google.common.collect.ContiguousSet;
import com.google.common.collect.Maps;
import io.mortise.cli.worker.Accounts;
import io.mortise.cli.worker.Catalogue;
import io.mortise.cli.worker.Job;
import io.mortise.cli.worker.SplitStock;
import io.mortise.cli.worker.Stock;
import io.mortise.cli.worker.WorkerEvent.Entered;
import io.mortise.cli.worker.WorkerRequest;
import io.mortise.cli.worker.Workers;
import io.mortise.core.LockClient;
import io.mortise.core.LockOptions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;

/**
 * One run of a chapter: its workers, its data, and the recording of what happens. A chapter has one
 * or more acts; in each the workers begin together.
 *
 * <p><b>Threads.</b> One thread, that of the chapter; whenever it waits, it collects the events of
 * the workers.
 */
public final class ChapterRun {
  private final String chapter;
  private final String lockName;
  private final DemoRedis redis;
  private final DemoSettings settings;
  private final Workers workers;
  private final Progress progress;
  private final EventCollector events;
  private final Set<Integer> active = new TreeSet<>();
  private List<String> lockUris;
  private int threads;

  ChapterRun(
      String chapter,
      String lockName,
      DemoRedis redis,
      DemoSettings settings,
      Workers workers,
      Progress progress,
      Duration stepTimeout) {
    this.chapter = chapter;
    this.lockName = lockName;
    this.redis = redis;
    this.settings = settings;
    this.workers = workers;
    this.progress = progress;
    this.events = new EventCollector(workers, progress, stepTimeout.plus(settings.lease()));
    this.lockUris = List.of(redis.uri());
    this.threads = settings.threads();
  }

  /** The settings of the demo. */
  public DemoSettings settings() {
    return settings;
  }

  /** The number of threads of each worker in this act. */
  public int threads() {
    return threads;
  }

  /** The stock that is for sale. */
  public Stock stock() {
    return new Stock(redis.client(), lockName);
  }

  /** The catalogue that readers and writers share. */
  public Catalogue catalogue() {
    return new Catalogue(redis.client(), lockName);
  }

  /** The accounts of transfers. */
  public Accounts accounts() {
    return new Accounts(redis.client(), lockName);
  }

  /** The stock in parts that is for sale. */
  public SplitStock splitStock() {
    return new SplitStock(redis.client(), lockName);
  }

  /** Removes the data of the workers. */
  void removeData() {
    stock().remove();
    splitStock().remove();
    catalogue().remove();
    accounts().remove();
  }

  /** The name of the lock. */
  public String lockName() {
    return lockName;
  }

  /** Connects a lock client for the demo itself. */
  public LockClient connect() {
    return LockClient.create(redis.uri(), LockOptions.builder().lease(settings.lease()).build());
  }

  /** Sets the servers of the locks from the next act on; the data stays where it is. */
  public void locksOn(List<String> uris) {
    lockUris = List.copyOf(uris);
  }

  /** The collector of the workers' events. */
  EventCollector events() {
    return events;
  }

  /** The events of this act so far. */
  public Recording recording() {
    return events.recording();
  }

  /** The progress of this chapter. */
  public Progress progress() {
    return progress;
  }

  /**
   * Begins an act: all workers work in this role, and begin at the same time. The events of an
   * earlier act are forgotten, and the stock is full again.
   */
  public void open(String role) throws InterruptedException {
    open(worker -> role, settings.threads());
  }

  /** The same, with a role for each worker and this many threads. */
  public void open(IntFunction<String> roles, int threads) throws InterruptedException {
    prepare(Maps.toMap(ContiguousSet.closedOpen(0, workers.count()), roles::apply), threads);
    active.forEach(this::go);
  }

  /**
   * Begins an act with a role for each worker; a worker without one takes no part. One worker
   * begins and sells before the others, so that it certainly takes part in the sale.
   */
  public void open(Map<Integer, String> roles, int first) throws InterruptedException {
    prepare(roles, settings.threads());
    go(first);
    await("the first sale", () -> recording().served() > 0);
    active.stream().filter(worker -> worker != first).forEach(this::go);
  }

  private void prepare(Map<Integer, String> roles, int threads) throws InterruptedException {
    progress.say("workers connect");
    events.beginAct();
    this.threads = threads;
    workers.startMissing();
    stock().write(settings.stock());
    active.clear();
    active.addAll(roles.keySet());
    roles.forEach(
        (worker, role) -> workers.send(worker, new WorkerRequest.Prepare(job(worker, role))));
    await("the workers to connect", () -> recording().prepared(active));
    progress.say("at work");
  }

  private void go(int worker) {
    workers.send(worker, new WorkerRequest.Go());
  }

  private Job job(int worker, String role) {
    return new Job(
        chapter,
        role,
        redis.uri(),
        lockUris,
        lockName,
        settings.stock(),
        threads,
        settings.customersOf(worker),
        settings.lease().toMillis());
  }

  /** Lets a thread that waits for it request the lock; returns when it reports that it does. */
  public void call(int worker, int thread) throws InterruptedException {
    int before = recording().asking();
    workers.send(worker, new WorkerRequest.Call(thread));
    await(
        "worker %d to ask for the lock".formatted(worker + 1), () -> recording().asking() > before);
  }

  /** Ends the work after the current customers. */
  public void close() {
    active.forEach(worker -> workers.send(worker, new WorkerRequest.Close()));
  }

  /** Returns the number of customers that this thread of this worker serves. */
  int customersOf(int worker, int thread) {
    return job(worker, "").customersOf(thread);
  }

  /** Whether all workers but this one have finished. */
  public boolean othersFinished(int worker) {
    Set<Integer> others = new TreeSet<>(active);
    others.remove(worker);
    return recording().finished(others);
  }

  /** Waits until all workers have finished that were not killed. */
  public void awaitEnd() throws InterruptedException {
    await("the workers to finish", () -> recording().finished(active));
  }

  /**
   * Waits until this worker has reported that it stays inside. From then on the others do not wait
   * for it.
   */
  public Entered awaitStaying(int worker) throws InterruptedException {
    await(
        "worker %d to get in".formatted(worker + 1),
        () -> recording().staying(worker).isPresent() || recording().finished(Set.of(worker)));
    Entered inside =
        recording()
            .staying(worker)
            .orElseThrow(
                () ->
                    new DemoFailure(
                        "worker %d did not get in before all was sold: a larger --stock gives it more time"
                            .formatted(worker + 1),
                        null));
    active.stream()
        .filter(other -> other != worker)
        .forEach(other -> workers.send(other, new WorkerRequest.Proceed()));
    return inside;
  }

  /** The faults for the worker processes. */
  FaultInjector faults() {
    return new FaultInjector(workers, events.recording(), active);
  }

  /**
   * Collects events until the condition holds.
   *
   * @throws NoProgressException if there is no event for longer than any step takes
   */
  public void await(String what, BooleanSupplier done) throws InterruptedException {
    events.await(what, done);
  }
}
