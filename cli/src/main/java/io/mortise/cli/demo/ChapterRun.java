package io.mortise.cli.demo;

import io.mortise.cli.worker.Accounts;
import io.mortise.cli.worker.Catalogue;
import io.mortise.cli.worker.Job;
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
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * What one chapter is played on: the workers, the stock, and the recording of what happens. The
 * chapter's thread does everything: whenever it waits, it takes in what the workers report.
 */
public final class ChapterRun {
  private final String chapter;
  private final String lockName;
  private final DemoRedis redis;
  private final DemoSettings settings;
  private final Stock stock;
  private final Workers workers;
  private final Progress progress;
  private final EventCollector inbox;
  private final Set<Integer> onStage = new TreeSet<>();
  private List<String> lockUris;
  private int threads;

  ChapterRun(
      String chapter,
      String lockName,
      DemoRedis redis,
      DemoSettings settings,
      Workers workers,
      Progress progress,
      Duration patience) {
    this.chapter = chapter;
    this.lockName = lockName;
    this.redis = redis;
    this.settings = settings;
    this.stock = new Stock(redis.client(), lockName);
    this.workers = workers;
    this.progress = progress;
    this.inbox = new EventCollector(workers, progress, patience.plus(settings.lease()));
    this.lockUris = List.of(redis.uri());
    this.threads = settings.threads();
  }

  /** What the sale is like. */
  public DemoSettings settings() {
    return settings;
  }

  /** How many threads each worker has in this act. */
  public int threads() {
    return threads;
  }

  /** What is for sale. */
  public Stock stock() {
    return stock;
  }

  /** What readers and writers share. */
  public Catalogue catalogue() {
    return new Catalogue(redis.client(), lockName);
  }

  /** Between which money is moved. */
  public Accounts accounts() {
    return new Accounts(redis.client(), lockName);
  }

  /** Leaves nothing behind of what the workers worked on. */
  void removeData() {
    stock.remove();
    catalogue().remove();
    accounts().remove();
  }

  /** The name of the lock. */
  public String lockName() {
    return lockName;
  }

  /** A client for locks of the demo's own. */
  public LockClient connect() {
    return LockClient.create(redis.uri(), LockOptions.builder().lease(settings.lease()).build());
  }

  /** From the next act on, the locks are on these servers; the data stays where it is. */
  public void locksOn(List<String> uris) {
    lockUris = List.copyOf(uris);
  }

  /** Where the workers' reports come in. */
  EventCollector inbox() {
    return inbox;
  }

  /** What has happened so far in this act. */
  public Recording recording() {
    return inbox.recording();
  }

  /** What is shown while it goes on. */
  public Progress progress() {
    return progress;
  }

  /**
   * Begins an act: all workers work in this role, and begin at the same time. What an act before it
   * has left is forgotten, and the stock is full again.
   */
  public void open(String role) throws InterruptedException {
    open(worker -> role, settings.threads());
  }

  /** The same, with a role for each worker and as many threads. */
  public void open(IntFunction<String> roles, int threads) throws InterruptedException {
    prepare(
        IntStream.range(0, workers.count())
            .boxed()
            .collect(Collectors.toMap(worker -> worker, roles::apply)),
        threads);
    onStage.forEach(this::go);
  }

  /**
   * Begins an act with a role for each worker; those that have none stay away. One begins before
   * the others and sells one ahead of them, so that it is sure to have a part in the sale.
   */
  public void open(Map<Integer, String> roles, int first) throws InterruptedException {
    prepare(roles, settings.threads());
    go(first);
    await("the first sale", () -> recording().served() > 0);
    onStage.stream().filter(worker -> worker != first).forEach(this::go);
  }

  private void prepare(Map<Integer, String> roles, int threads) throws InterruptedException {
    progress.say("workers connect");
    inbox.beginAct();
    this.threads = threads;
    workers.startMissing();
    stock.write(settings.stock());
    onStage.clear();
    onStage.addAll(roles.keySet());
    roles.forEach(
        (worker, role) -> workers.send(worker, new WorkerRequest.Prepare(job(worker, role))));
    await("the workers to connect", () -> recording().prepared(onStage));
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

  /** Tells a thread that waits for it to ask for the lock; returns when it says that it does. */
  public void call(int worker, int thread) throws InterruptedException {
    int before = recording().asking();
    workers.send(worker, new WorkerRequest.Call(thread));
    await(
        "worker %d to ask for the lock".formatted(worker + 1), () -> recording().asking() > before);
  }

  /** Lets no more customers in. */
  public void close() {
    onStage.forEach(worker -> workers.send(worker, new WorkerRequest.Close()));
  }

  /** How many customers this thread of this worker serves. */
  int customersOf(int worker, int thread) {
    return job(worker, "").customersOf(thread);
  }

  /** Whether all workers but this one have finished. */
  public boolean othersFinished(int worker) {
    Set<Integer> others = new TreeSet<>(onStage);
    others.remove(worker);
    return recording().finished(others);
  }

  /** Waits until all have finished that were not killed. */
  public void awaitEnd() throws InterruptedException {
    await("the workers to finish", () -> recording().finished(onStage));
  }

  /**
   * Waits until this worker has said that it stays inside. From then on the others need not wait
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
    onStage.stream()
        .filter(other -> other != worker)
        .forEach(other -> workers.send(other, new WorkerRequest.Proceed()));
    return inside;
  }

  /** What can befall the worker processes. */
  public FaultInjector fate() {
    return new FaultInjector(workers, inbox.recording(), onStage);
  }

  /**
   * Takes in what the workers report until this is so.
   *
   * @throws NoProgressException if they report nothing for longer than anything can take
   */
  public void await(String what, BooleanSupplier done) throws InterruptedException {
    inbox.await(what, done);
  }
}
