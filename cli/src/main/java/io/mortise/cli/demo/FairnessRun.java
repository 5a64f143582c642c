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
 * What came out with one kind of lock.
 *
 * @param lineUp who asked and came in when, where it is certain
 * @param inLineWithinNanos the longest that it took a thread to get in line
 * @param sale how the sale went
 * @param excerpt a part of the sale
 */
record FairnessRun(
    LockKind kind, LineUp lineUp, long inLineWithinNanos, Sale sale, Timeline excerpt) {
  /** How long a thread has to get in line, where nobody can see whether it is. */
  static final Duration TO_GET_IN_LINE = Duration.ofMillis(10);

  /** About so many stand in line: enough to see an order, few enough to see each. */
  private static final int IN_LINE = 16;

  static FairnessRun play(ChapterRun stage, LockKind kind) throws InterruptedException {
    int threads = threadsInLine(stage.settings().processes());
    stage.open(worker -> Fairness.lineUpRole(kind), threads);
    List<Hold> asked = new ArrayList<>();
    long slowest = lineUp(stage, kind);
    stage.awaitEnd();
    for (int i = 0; i < stage.settings().processes() * threads; i++) {
      asked.add(holdOf(stage, workerAt(stage, i), threadAt(stage, i)));
    }
    stage.open(Fairness.saleRole(kind));
    stage.awaitEnd();
    return new FairnessRun(
        kind,
        new LineUp(kind.words(), asked),
        slowest,
        Sale.of(stage),
        TimelineWindow.of(stage, "The sale with a %s.".formatted(kind.words())));
  }

  /** How many stand in line together. */
  static int inLine(int processes) {
    return processes * threadsInLine(processes);
  }

  private static int threadsInLine(int processes) {
    return Math.max(1, IN_LINE / processes);
  }

  /** Neighbours in the line are of different processes. */
  private static int workerAt(ChapterRun stage, int place) {
    return place % stage.settings().processes();
  }

  private static int threadAt(ChapterRun stage, int place) {
    return place / stage.settings().processes();
  }

  /** Lets them ask one after the other, and then in. Gives the longest that one took to ask. */
  private static long lineUp(ChapterRun stage, LockKind kind) throws InterruptedException {
    long slowest = 0;
    try (LockClient client = stage.connect()) {
      DistributedLock lock = kind.lock(client, stage.lockName());
      try (Lease before =
          lock.tryAcquire().orElseThrow(() -> new NoProgressException("the lock is taken"))) {
        for (int i = 0; i < stage.settings().processes() * stage.threads(); i++) {
          long begin = System.nanoTime();
          stage.call(workerAt(stage, i), threadAt(stage, i));
          awaitInLine(stage, lock, i + 1);
          slowest = Math.max(slowest, System.nanoTime() - begin);
        }
        before.ensureValid();
      }
      return slowest;
    } catch (LeaseLostException e) {
      throw new DemoFailure("the demo lost the lock itself: " + e.getMessage(), e);
    }
  }

  private static void awaitInLine(ChapterRun stage, DistributedLock lock, int length)
      throws InterruptedException {
    if (lock instanceof RedisFairLock fair) {
      stage
          .inbox()
          .watch("%d to stand in line".formatted(length), () -> fair.queueLength() >= length);
    } else {
      stage.inbox().pass(TO_GET_IN_LINE);
    }
  }

  private static Hold holdOf(ChapterRun stage, int worker, int thread) {
    return stage.recording().holds().stream()
        .filter(hold -> hold.worker() == worker && hold.thread() == thread)
        .findFirst()
        .orElseThrow(
            () ->
                new NoProgressException(
                    "thread %d of worker %d stood in line and never came in"
                        .formatted(thread + 1, worker + 1)));
  }

  /** Whether they excluded each other, in the line and in the sale, and the stock is right. */
  boolean isSafe() {
    return Exclusion.of(lineUp.asked()).holds()
        && Exclusion.of(sale.holds()).holds()
        && sale.lostUpdates() == 0;
  }

  /** For when something is wrong. */
  String complaint() {
    return "%d updates were lost; in the sale %s In the line %s"
        .formatted(
            sale.lostUpdates(),
            Exclusion.of(sale.holds()).explanation(),
            Exclusion.of(lineUp.asked()).explanation());
  }

  /** The wait in the sale that this share did not exceed. */
  String waited(double share) {
    return Metric.millisText(Waits.of(sale.holds()).atMostNanos(share));
  }

  /**
   * Of this lock.
   *
   * @param tolerance how much later somebody must have asked to be sure that it was later, in ns
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
