package io.mortise.cli.demo;

import io.mortise.cli.worker.Catalogue;
import io.mortise.cli.worker.Entry;
import io.mortise.cli.worker.EventType;
import io.mortise.cli.worker.WorkerThreadContext;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.rwlock.RedisReadWriteLock;
import io.mortise.testkit.HoldLog.Mode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;

/** A catalogue with many readers and a few writers: first without a lock, for contrast. */
final class ReadersAndWriters implements Chapter {
  /** Longer than any writer has to wait: then the readers end, and the chapter has failed. */
  private static final Duration READERS_STAY = Duration.ofSeconds(12);

  @Override
  public String name() {
    return "catalogue";
  }

  @Override
  public String title() {
    return "A shared catalogue";
  }

  @Override
  public String story() {
    return "Each entry of a catalogue is a key in Redis. A few threads write a new version of all of"
        + " them, one after the other, while many read them all. A read that sees two versions is"
        + " torn. First without a lock; then readers take the read lock of a RedisReadWriteLock,"
        + " and writers its write lock. There are always readers inside, and still the writers get"
        + " in.";
  }

  @Override
  public void warmUp(WorkerThreadContext context) {
    RedisReadWriteLock lock =
        new RedisReadWriteLock(
            context.locks(), context.job().lockName() + ":warm-up-of-" + context.locks().id());
    lock.readLock().tryAcquire().ifPresent(Lease::close);
    lock.writeLock().tryAcquire().ifPresent(Lease::close);
  }

  @Override
  public void work(WorkerThreadContext context) {
    RedisReadWriteLock lock = new RedisReadWriteLock(context.locks(), context.job().lockName());
    boolean locked = context.job().role().startsWith(CatalogueRun.LOCKED);
    if (context.job().role().endsWith(CatalogueRun.WRITER) && context.thread() == 0) {
      write(context, locked ? Optional.of(lock.writeLock()) : Optional.empty());
    } else {
      read(context, locked ? Optional.of(lock.readLock()) : Optional.empty());
    }
  }

  private static void write(WorkerThreadContext context, Optional<DistributedLock> lock) {
    Catalogue catalogue = context.catalogue();
    int writes = CatalogueRun.writesPerWriter(context.job().stock());
    for (int i = 0; i < writes; i++) {
      context.awaitNews();
      inside(
          Mode.EXCLUSIVE,
          lock,
          entry -> {
            catalogue.write(catalogue.read().newest() + 1);
            context.reportHeld(entry, false);
          });
    }
    catalogue.writerIsDone();
  }

  private static void read(WorkerThreadContext context, Optional<DistributedLock> lock) {
    Catalogue catalogue = context.catalogue();
    long begin = System.nanoTime();
    do {
      context.awaitCustomer();
      inside(
          Mode.SHARED,
          lock,
          entry -> {
            Catalogue.State state = catalogue.read();
            if (state.isTorn()) {
              context.report(
                  EventType.TORN, entry.token(), "a torn read: versions " + state.versions());
            }
            context.reportHeld(entry, false);
          });
    } while (catalogue.hasWriters() && System.nanoTime() - begin < READERS_STAY.toNanos());
  }

  private static void inside(Mode mode, Optional<DistributedLock> lock, Consumer<Entry> section) {
    long asked = System.nanoTime();
    lock.ifPresent(Lock::lock);
    try {
      long entered = System.nanoTime();
      long token = lock.map(held -> held.lease().fencingToken()).orElse(0L);
      section.accept(new Entry(mode, token, asked, entered));
    } finally {
      lock.ifPresent(Lock::unlock);
    }
  }

  @Override
  public Outcome play(ChapterRun run) throws InterruptedException {
    CatalogueRun unlocked = CatalogueRun.play(run, false);
    CatalogueRun locked = CatalogueRun.play(run, true);
    return outcome(unlocked, locked);
  }

  static Outcome outcome(CatalogueRun unlocked, CatalogueRun locked) {
    Exclusion exclusion = Exclusion.of(locked.holds());
    boolean ok = locked.isSafe() && locked.letsReadersTogether() && locked.letsWritersIn();
    List<Metric> figures = new ArrayList<>(locked.figures());
    figures.add(Metric.count("tornReadsWithoutLock", "torn reads without it", unlocked.torn()));
    figures.add(Metric.count("readsWithoutLock", "reads without it", unlocked.reads()).aside());
    figures.addAll(exclusion.figures());
    String contrast =
        unlocked.torn() > 0
            ? "without the lock %d of %d were".formatted(unlocked.torn(), unlocked.reads())
            : "but by chance none was without the lock either, so this run proves little";
    String explanation =
        ok
            ? "Up to %d read together, and none of %d reads was torn; %s. All %d writes got in, after %s at most."
                .formatted(
                    exclusion.mostReaders(),
                    locked.reads(),
                    contrast,
                    locked.writes(),
                    Metric.millisText(locked.writerWaits().atMostNanos(1)))
            : "%d of %d reads were torn, up to %d read together, %d of %d writes are in the catalogue, a writer waited up to %s. %s"
                .formatted(
                    locked.torn(),
                    locked.reads(),
                    exclusion.mostReaders(),
                    locked.version(),
                    locked.expectedWrites(),
                    Metric.millisText(locked.writerWaits().atMostNanos(1)),
                    exclusion.explanation());
    return new Outcome(ok, explanation, figures, List.of(unlocked.excerpt(), locked.excerpt()));
  }
}
