package io.mortise.cli.demo;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Waits;
import java.util.List;

/**
 * How a sale went: what the workers say they sold, against what Redis says is left.
 *
 * @param stock how many there were
 * @param left how many there are by the last write
 * @param sold how many were sold, by the sellers' own count
 * @param holds who was inside when
 */
record Sale(int stock, int left, int sold, List<Hold> holds) {
  private static final double NANOS_PER_SECOND = 1e9;

  static Sale of(ChapterRun stage) {
    Recording recording = stage.recording();
    return new Sale(
        stage.settings().stock(),
        stage.stock().read(),
        recording.sold(),
        recording.holds().stream().sorted(Hold.BY_ENTRY).toList());
  }

  int oversold() {
    return Math.max(0, sold - stock);
  }

  /** Sales that the stock does not know of: another write went over theirs. */
  int lostUpdates() {
    return sold - (stock - left);
  }

  long tookNanos() {
    return holds.isEmpty() ? 0 : endNanos() - startNanos();
  }

  long perSecond() {
    return tookNanos() == 0 ? 0 : Math.round(sold * NANOS_PER_SECOND / tookNanos());
  }

  /** What is to be seen of a sale that is the chapter's point. */
  List<Metric> counts() {
    return List.of(
        Metric.count("stock", "in stock", stock),
        Metric.count("sold", "sold", sold),
        Metric.count("oversold", "oversold", oversold()),
        Metric.count("left", "left in Redis", left),
        Metric.count("lostUpdates", "lost updates", lostUpdates()));
  }

  /** The same, where the sale is not what the chapter is about. */
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
