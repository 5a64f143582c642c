package io.mortise.cli.demo;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Waits;
import io.mortise.cli.worker.EventType;
import java.time.Duration;
import java.util.List;

/**
 * The outcome of reading and writing, with the lock or without.
 *
 * @param holds all holds
 * @param torn reads that saw more than one version
 * @param expectedWrites writes of all writers
 * @param version the version of the catalogue at the end
 * @param excerpt a part of it
 */
record CatalogueRun(List<Hold> holds, int torn, int expectedWrites, int version, Timeline excerpt) {
  /** Enough for the readers before a writer, a wake-up, and a busy machine. */
  private static final Duration WRITER_ENTERS_WITHIN = Duration.ofSeconds(5);

  static final String LOCKED = "locked";

  /** Follows in the role of a worker of which one thread writes. */
  static final String WRITER = " with a writer";

  private static final String UNLOCKED = "unlocked";
  private static final int LEAST_THREADS = 2;
  private static final int MOST_WRITERS = 3;
  private static final int THREADS_FOR_A_WRITER = 6;

  static CatalogueRun play(ChapterRun run, boolean locked) throws InterruptedException {
    DemoSettings settings = run.settings();
    int threads = Math.max(LEAST_THREADS, settings.threads());
    int writers = writers(settings.processes(), threads);
    run.catalogue().reset(writers);
    run.open(worker -> (locked ? LOCKED : UNLOCKED) + (worker < writers ? WRITER : ""), threads);
    run.awaitEnd();
    return new CatalogueRun(
        run.recording().holds(),
        run.recording().count(EventType.TORN),
        writers * writesPerWriter(settings.stock()),
        run.catalogue().read().newest(),
        TimelineWindow.of(
            run,
            locked
                ? "With the lock: many read together, a writer is alone."
                : "Without a lock: writers among readers; a circle is a torn read."));
  }

  static int writesPerWriter(int stock) {
    return Math.max(10, Math.min(60, stock / 20));
  }

  /** Returns a small number of writers; each is the first thread of its process. */
  private static int writers(int processes, int threads) {
    int few = Math.min(MOST_WRITERS, processes * threads / THREADS_FOR_A_WRITER);
    return Math.max(1, Math.min(few, processes));
  }

  /** Keeps a copy of the list. */
  CatalogueRun {
    holds = List.copyOf(holds);
  }

  boolean isSafe() {
    return torn == 0 && version == expectedWrites && Exclusion.of(holds).holds();
  }

  boolean letsReadersTogether() {
    return Exclusion.of(holds).mostReaders() > 1;
  }

  boolean letsWritersIn() {
    return writes() == expectedWrites
        && writerWaits().atMostNanos(1) <= WRITER_ENTERS_WITHIN.toNanos();
  }

  int reads() {
    return holds.size() - writes();
  }

  int writes() {
    return ofWriters().size();
  }

  Waits writerWaits() {
    return Waits.of(ofWriters());
  }

  private List<Hold> ofWriters() {
    return holds.stream().filter(hold -> !hold.isShared()).toList();
  }

  List<Metric> figures() {
    Waits writers = writerWaits();
    Waits readers = Waits.of(holds.stream().filter(Hold::isShared).toList());
    return List.of(
        Metric.count("reads", "reads", reads()),
        Metric.count("mostReaders", "most at once", Exclusion.of(holds).mostReaders()),
        Metric.count("tornReads", "torn reads", torn),
        Metric.count("writes", "writes", writes()),
        Metric.count("lostWrites", "lost writes", expectedWrites - version).aside(),
        Metric.millis(
            "medianWriterWaitMillis", "a writer waited (median)", writers.atMostNanos(0.5)),
        Metric.millis("longestWriterWaitMillis", "a writer at most", writers.atMostNanos(1)),
        Metric.millis(
                "medianReaderWaitMillis", "a reader waited (median)", readers.atMostNanos(0.5))
            .aside(),
        Metric.millis("longestReaderWaitMillis", "a reader at most", readers.atMostNanos(1)));
  }
}
