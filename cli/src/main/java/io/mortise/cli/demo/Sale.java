package io.mortise.cli.demo;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Waits;
import java.util.List;

/**
 * The outcome of a sale: the sales that the workers report, against the stock that is left in
 * Redis.
 *
 * @param stock the articles at the beginning
 * @param left the articles by the last write
 * @param sold the sales that the workers report
 * @param holds all holds, in the order of their entries
 */
record Sale(int stock, int left, int sold, List<Hold> holds) {
  private static final double NANOS_PER_SECOND = 1e9;

  static Sale of(ChapterRun run) {
    Recording recording = run.recording();
    return new Sale(
        run.settings().stock(),
        run.stock().read(),
        recording.sold(),
        recording.holds().stream().sorted(Hold.BY_ENTRY).toList());
  }

  int oversold() {
    return Math.max(0, sold - stock);
  }

  /** Returns the number of sales that another write overwrote. */
  int lostUpdates() {
    return sold - (stock - left);
  }

  long tookNanos() {
    return holds.isEmpty() ? 0 : endNanos() - startNanos();
  }

  long perSecond() {
    return tookNanos() == 0 ? 0 : Math.round(sold * NANOS_PER_SECOND / tookNanos());
  }

  /** The figures of a sale that the chapter is about. */
  List<Metric> counts() {
    return List.of(
        Metric.count("stock", "in stock", stock),
        Metric.count("sold", "sold", sold),
        Metric.count("oversold", "oversold", oversold()),
        Metric.count("left", "left in Redis", left),
        Metric.count("lostUpdates", "lost updates", lostUpdates()));
  }

  /** The same figures, for a chapter about something else. */
  List<Metric> countsAside() {
    return counts().stream()
        .map(count -> count.key().equals("lostUpdates") ? count : count.aside())
        .toList();
  }

  List<Metric> times() {
    Waits waits = Waits.of(holds);
    return List.of(
        new Metric("salesPerSecond", "throughput", perSecond(), "sales/s", true),
        Metric.millis("medianWaitMillis", "median wait", waits.atMostNanos(0.5)),
        Metric.millis("p99WaitMillis", "99 % waited up to", waits.atMostNanos(0.99)),
        Metric.millis("longestWaitMillis", "longest wait", waits.atMostNanos(1)));
  }

  private long startNanos() {
    return holds.stream().mapToLong(Hold::askedNanos).min().orElse(0);
  }

  private long endNanos() {
    return holds.stream().mapToLong(Hold::leftNanos).max().orElse(0);
  }
}
