package io.mortise.cli.demo;

import io.mortise.cli.timeline.Hold;
import io.mortise.cli.timeline.Lane;
import io.mortise.cli.timeline.Overlaps;
import io.mortise.cli.timeline.Overlaps.Stretch;
import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.worker.SplitStock.Sale;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The outcome of selling the hot stock, with one lock or with one for each segment: judged by what
 * the workers have left in Redis.
 *
 * @param sales the list of sales in Redis
 * @param left the articles by the last write to each part
 * @param reported the sales that the workers report
 * @param excerpt a part of it
 */
record HotStockRun(
    StockDivision division, List<Sale> sales, int left, int reported, Timeline excerpt) {
  static final int ARTICLES = 500;

  private static final double NANOS_PER_SECOND = 1e9;

  private record Article(int part, int number) {}

  static HotStockRun play(ChapterRun run, StockDivision division) throws InterruptedException {
    return play(run, division, worker -> division);
  }

  /** The same, with a way to lock for each worker. */
  static HotStockRun play(ChapterRun run, StockDivision division, IntFunction<StockDivision> locks)
      throws InterruptedException {
    run.splitStock().reset(ARTICLES, division.parts());
    run.open(worker -> locks.apply(worker).name(), run.settings().threads());
    run.awaitEnd();
    List<Sale> sales = run.splitStock().sales();
    Timeline excerpt =
        TimelineWindow.of(
            run,
            division == StockDivision.WHOLE
                ? "With a RedisLock: one bar at any time."
                : "With a SegmentedLock: one bar at any time in each segment, and several in all.");
    return new HotStockRun(
        division,
        sales,
        run.splitStock().left(),
        run.recording().sold(),
        division == StockDivision.WHOLE
            ? excerpt
            : excerpt.with(lanes(division.parts(), sales, run.recording().holds())));
  }

  /** Returns a lane for each segment, with the holds of its sales. */
  private static List<Lane> lanes(int parts, List<Sale> sales, List<Hold> holds) {
    Map<Long, List<Hold>> byEntry =
        holds.stream().collect(Collectors.groupingBy(Hold::enteredNanos));
    return IntStream.range(0, parts)
        .mapToObj(
            part ->
                Lane.ofHolds(
                    "segment " + part,
                    sales.stream()
                        .filter(sale -> sale.part() == part)
                        .flatMap(sale -> holdsOf(sale, byEntry))
                        .toList()))
        .toList();
  }

  private static Stream<Hold> holdsOf(Sale sale, Map<Long, List<Hold>> byEntry) {
    return byEntry.getOrDefault(sale.enteredNanos(), List.of()).stream()
        .filter(hold -> hold.thread() == sale.thread() && hold.token() == sale.token());
  }

  /** Keeps a copy of the list. */
  HotStockRun {
    sales = List.copyOf(sales);
  }

  int sold() {
    return sales.size();
  }

  /** Returns the number of sales of an article that had been sold before. */
  int soldTwice() {
    return sold()
        - (int)
            sales.stream().map(sale -> new Article(sale.part(), sale.article())).distinct().count();
  }

  /** Whether the articles were sold, each of them once, and Redis and the workers agree. */
  boolean isExact() {
    return sold() == ARTICLES && soldTwice() == 0 && left == 0 && reported == sold();
  }

  /** Whether the stock is exact, and each lock has excluded. */
  boolean isSafe() {
    return isExact() && exclusions().allMatch(Exclusion::holds) && mostInside() <= division.parts();
  }

  /** The verdict on each part. */
  private Stream<Exclusion> exclusions() {
    return sales.stream().collect(Collectors.groupingBy(Sale::part)).values().stream()
        .map(ofPart -> Exclusion.of(holds(ofPart)));
  }

  /** Returns a hold for each sale, each of a worker of its own: no two are of one holder. */
  private static List<Hold> holds(List<Sale> sales) {
    return IntStream.range(0, sales.size()).mapToObj(i -> hold(i, sales.get(i))).toList();
  }

  private static Hold hold(int worker, Sale sale) {
    long entered = sale.enteredNanos();
    return new Hold(worker, sale.thread(), sale.token(), entered, entered, sale.leftNanos());
  }

  private int overlaps() {
    return exclusions().mapToInt(Exclusion::overlaps).sum();
  }

  private int tokensOutOfOrder() {
    return exclusions().mapToInt(Exclusion::tokensOutOfOrder).sum();
  }

  /** The most sales that were made at the same time. */
  int mostInside() {
    return Overlaps.stretches(holds(sales)).stream().mapToInt(Stretch::inside).max().orElse(0);
  }

  /** The time from the first entry to the last sale. */
  private long tookNanos() {
    return sales.stream().mapToLong(Sale::leftNanos).max().orElse(0)
        - sales.stream().mapToLong(Sale::enteredNanos).min().orElse(0);
  }

  long perSecond() {
    return tookNanos() == 0 ? 0 : Math.round(sold() * NANOS_PER_SECOND / tookNanos());
  }

  /** The figures of this way. */
  List<Metric> figures() {
    return Stream.of(
            Metric.count("stock", "in stock", ARTICLES),
            Metric.count("sold", "sold", sold()),
            Metric.count("soldTwice", "sold twice", soldTwice()),
            Metric.count("left", "left in Redis", left).aside(),
            Metric.millis("tookMillis", "took", tookNanos()),
            new Metric("salesPerSecond", "throughput", perSecond(), "sales/s", true),
            Metric.count("mostInside", "most inside at once", mostInside()),
            Metric.count("overlaps", "overlaps in one part", overlaps()).aside(),
            Metric.count("tokensOutOfOrder", "tokens out of order", tokensOutOfOrder()).aside())
        .map(division::figure)
        .toList();
  }

  /** The explanation of a violation. */
  String complaint() {
    return "%s: %d of %d sold, %d of them twice, %d left in Redis, %d reported; up to %d were inside, where %d may be; in one part %s"
        .formatted(
            division.title(),
            sold(),
            ARTICLES,
            soldTwice(),
            left,
            reported,
            mostInside(),
            division.parts(),
            new Exclusion(overlaps(), tokensOutOfOrder(), 0).explanation());
  }
}
