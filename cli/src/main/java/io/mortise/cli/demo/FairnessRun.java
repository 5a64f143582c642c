package io.mortise.cli.demo;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.LineUp;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Waits;
import io.mortise.core.DistributedLock;
import io.mortise.core.Lease;
import io.mortise.core.LeaseLostException;
import io.mortise.core.LockClient;
import io.mortise.fairlock.RedisFairLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The outcome of the line and of the sale with one kind of lock.
 *
 * @param lineUp the requests and entries in the line
 * @param inLineWithinNanos the longest time in which a thread got in line
 * @param sale the sale
 * @param excerpt a part of the sale
 */
record FairnessRun(
    FairnessLock kind, LineUp lineUp, long inLineWithinNanos, Sale sale, Timeline excerpt) {
  /** Follows the kind in the role of a worker whose threads line up. */
  static final String LINE_UP = " line-up";

  /** The time that a thread has to get in line at a lock that does not show its waiters. */
  static final Duration TO_GET_IN_LINE = Duration.ofMillis(10);

  /** About the number of threads in line: enough to see an order, few enough to see each. */
  private static final int IN_LINE = 16;

  static FairnessRun play(ChapterRun run, FairnessLock kind) throws InterruptedException {
    int threads = threadsInLine(run.settings().processes());
    run.open(worker -> kind + LINE_UP, threads);
    List<Hold> asked = new ArrayList<>();
    long slowest = lineUp(run, kind);
    run.awaitEnd();
    for (int i = 0; i < run.settings().processes() * threads; i++) {
      asked.add(holdOf(run, workerAt(run, i), threadAt(run, i)));
    }
    run.open(kind.name());
    run.awaitEnd();
    return new FairnessRun(
        kind,
        new LineUp(kind.title(), asked),
        slowest,
        Sale.of(run),
        TimelineWindow.of(run, "The sale with a %s.".formatted(kind.title())));
  }

  /** Returns the number of threads in line. */
  static int inLine(int processes) {
    return processes * threadsInLine(processes);
  }

  private static int threadsInLine(int processes) {
    return Math.max(1, IN_LINE / processes);
  }

  /** Adjacent threads in the line are of different processes. */
  private static int workerAt(ChapterRun run, int place) {
    return place % run.settings().processes();
  }

  private static int threadAt(ChapterRun run, int place) {
    return place / run.settings().processes();
  }

  /**
   * Lets the threads request the lock one after the other, and then enter. Returns the longest time
   * in which one got in line.
   */
  private static long lineUp(ChapterRun run, FairnessLock kind) throws InterruptedException {
    long slowest = 0;
    try (LockClient client = run.connect()) {
      DistributedLock lock = kind.lock(client, run.lockName());
      try (Lease before =
          lock.tryAcquire().orElseThrow(() -> new NoProgressException("the lock is taken"))) {
        for (int i = 0; i < run.settings().processes() * run.threads(); i++) {
          long begin = System.nanoTime();
          run.call(workerAt(run, i), threadAt(run, i));
          awaitInLine(run, lock, i + 1);
          slowest = Math.max(slowest, System.nanoTime() - begin);
        }
        before.ensureValid();
      }
      return slowest;
    } catch (LeaseLostException e) {
      throw new DemoFailure("the demo lost the lock itself: " + e.getMessage(), e);
    }
  }

  private static void awaitInLine(ChapterRun run, DistributedLock lock, int length)
      throws InterruptedException {
    if (lock instanceof RedisFairLock fair) {
      run.events()
          .watch("%d threads to be in line".formatted(length), () -> fair.queueLength() >= length);
    } else {
      run.events().pass(TO_GET_IN_LINE);
    }
  }

  private static Hold holdOf(ChapterRun run, int worker, int thread) {
    return run.recording().holds().stream()
        .filter(hold -> hold.worker() == worker && hold.thread() == thread)
        .findFirst()
        .orElseThrow(
            () ->
                new NoProgressException(
                    "thread %d of worker %d was in line and never entered"
                        .formatted(thread + 1, worker + 1)));
  }

  /** Whether the lock excluded, in the line and in the sale, and the stock is correct. */
  boolean isSafe() {
    return Exclusion.of(lineUp.asked()).holds()
        && Exclusion.of(sale.holds()).holds()
        && sale.lostUpdates() == 0;
  }

  /** The explanation of a violation. */
  String complaint() {
    return "%d updates were lost; in the sale %s In the line %s"
        .formatted(
            sale.lostUpdates(),
            Exclusion.of(sale.holds()).explanation(),
            Exclusion.of(lineUp.asked()).explanation());
  }

  /** The wait in the sale that this share of holders did not exceed. */
  String waited(double share) {
    return Metric.millisText(Waits.of(sale.holds()).atMostNanos(share));
  }

  /**
   * The figures of this lock.
   *
   * @param tolerance the distance of two requests, in ns, from which on their order is certain
   */
  List<Metric> figures(long tolerance) {
    Waits waits = Waits.of(sale.holds());
    return Stream.of(
            Metric.count("inLine", "in line", lineUp.asked().size()).aside(),
            Metric.count("overtakenInLine", "overtaken in line", lineUp.overtaken()),
            Metric.millis("medianWaitMillis", "median wait", waits.atMostNanos(0.5)),
            Metric.millis("longestWaitMillis", "longest wait", waits.atMostNanos(1)),
            Metric.count(
                    "overtakenInSale",
                    "overtaken by one that asked %s later".formatted(Metric.millisText(tolerance)),
                    LineUp.overtaken(sale.holds(), tolerance))
                .aside(),
            percent("leastSharePercent", "least sold by a process", served().min().orElse(0)),
            percent("mostSharePercent", "most sold by a process", served().max().orElse(0)),
            new Metric("salesPerSecond", "throughput", sale.perSecond(), "sales/s", false),
            Metric.count("overlaps", "overlaps", overlaps()).aside())
        .map(kind::figure)
        .toList();
  }

  private LongStream served() {
    return IntStream.range(0, excerpt.workers())
        .mapToLong(worker -> sale.holds().stream().filter(hold -> hold.worker() == worker).count());
  }

  private Metric percent(String key, String label, long served) {
    long share = Math.round(100.0 * served / Math.max(1, sale.holds().size()));
    return new Metric(key, label, share, "%", false);
  }

  private int overlaps() {
    return Exclusion.of(lineUp.asked()).overlaps() + Exclusion.of(sale.holds()).overlaps();
  }
}
