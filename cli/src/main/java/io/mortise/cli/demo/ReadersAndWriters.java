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

/** A catalogue of many readers and a few writers: first without a lock, for contrast. */
final class ReadersAndWriters implements Chapter {
  /** Longer than any writer has to wait: then the readers give way, and the chapter has failed. */
  private static final Duration READERS_STAY = Duration.ofSeconds(12);

  private static final String WRITER = " with a writer";
  private static final String LOCKED = "locked";
  private static final String BARE = "bare";

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
    return "The entries of a catalogue are keys of their own in Redis. A few threads write a new"
        + " version of all of them, one after the other, while many read them all. A read that"
        + " sees two versions is torn. First nobody takes a lock; then readers take the read lock"
        + " of a RedisReadWriteLock, and writers its write lock. There is always somebody reading,"
        + " and still the writers get in.";
  }

  static String role(boolean locked, boolean writer) {
    return (locked ? LOCKED : BARE) + (writer ? WRITER : "");
  }

  /** How often each writer writes. */
  static int writes(int stock) {
    return Math.max(10, Math.min(60, stock / 20));
  }

  @Override
  public void warmUp(WorkerThreadContext till) {
    RedisReadWriteLock lock =
        new RedisReadWriteLock(
            till.locks(), till.job().lockName() + ":warm-up-of-" + till.locks().id());
    lock.readLock().tryAcquire().ifPresent(Lease::close);
    lock.writeLock().tryAcquire().ifPresent(Lease::close);
  }

  @Override
  public void work(WorkerThreadContext till) {
    RedisReadWriteLock lock = new RedisReadWriteLock(till.locks(), till.job().lockName());
    boolean locked = till.job().role().startsWith(LOCKED);
    if (till.job().role().endsWith(WRITER) && till.thread() == 0) {
      write(till, locked ? Optional.of(lock.writeLock()) : Optional.empty());
    } else {
      read(till, locked ? Optional.of(lock.readLock()) : Optional.empty());
    }
  }

  private static void write(WorkerThreadContext till, Optional<DistributedLock> lock) {
    Catalogue catalogue = till.catalogue();
    int writes = writes(till.job().stock());
    for (int i = 0; i < writes; i++) {
      till.awaitNews();
      inside(
          Mode.EXCLUSIVE,
          lock,
          visit -> {
            catalogue.write(catalogue.read().newest() + 1);
            till.reportHeld(visit, false);
          });
    }
    catalogue.writerIsDone();
  }

  private static void read(WorkerThreadContext till, Optional<DistributedLock> lock) {
    Catalogue catalogue = till.catalogue();
    long begin = System.nanoTime();
    do {
      till.awaitCustomer();
      inside(
          Mode.SHARED,
          lock,
          visit -> {
            Catalogue.State state = catalogue.read();
            if (state.isTorn()) {
              till.report(
                  EventType.TORN, visit.token(), "a torn read: versions " + state.versions());
            }
            till.reportHeld(visit, false);
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
  public Outcome play(ChapterRun stage) throws InterruptedException {
    CatalogueRun bare = CatalogueRun.play(stage, false);
    CatalogueRun locked = CatalogueRun.play(stage, true);
    return outcome(bare, locked);
  }

  static Outcome outcome(CatalogueRun bare, CatalogueRun locked) {
    Exclusion exclusion = Exclusion.of(locked.holds());
    boolean ok = locked.isSafe() && locked.letsReadersTogether() && locked.letsWritersIn();
    List<Metric> figures = new ArrayList<>(locked.figures());
    figures.add(Metric.count("tornReadsWithoutLock", "torn reads without it", bare.torn()));
    figures.add(Metric.count("readsWithoutLock", "reads without it", bare.reads()).aside());
    figures.addAll(exclusion.figures());
    String contrast =
        bare.torn() > 0
            ? "without the lock %d of %d were".formatted(bare.torn(), bare.reads())
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
    return new Outcome(ok, explanation, figures, List.of(bare.excerpt(), locked.excerpt()));
  }
}
