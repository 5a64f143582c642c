package io.mortise.cli.demo;

import static io.mortise.cli.demo.HotStockRun.ARTICLES;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.mortise.cli.timeline.Timeline;
import io.mortise.cli.timeline.Timeline.Frame;
import io.mortise.cli.worker.SplitStock.Sale;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class HotStockTest {
  private static final long SALE_NANOS = 10;
  private static final int LAST = ARTICLES - 1;

  /** Returns the sales of a lock that works: in each part one after the other. */
  private static List<Sale> sales(StockDivision division) {
    List<Sale> sales = new ArrayList<>();
    for (int part = 0; part < division.parts(); part++) {
      int articles = ARTICLES / division.parts();
      for (int i = 0; i < articles; i++) {
        long entered = i * SALE_NANOS;
        sales.add(new Sale(part, articles - i, 0, i + 1, entered, entered + SALE_NANOS));
      }
    }
    return sales;
  }

  private static HotStockRun run(StockDivision division, List<Sale> sales, int left, int reported) {
    return new HotStockRun(
        division,
        sales,
        left,
        reported,
        new Timeline(
            new Frame(0, 100, 0, "the start"), List.of(), List.of(), List.of(), 3, 1, "None."));
  }

  private static HotStockRun right(StockDivision division) {
    return run(division, sales(division), 0, ARTICLES);
  }

  /** Returns the run in which the last sale, of the last part, is another one. */
  private static HotStockRun withLast(StockDivision division, UnaryOperator<Sale> change) {
    List<Sale> sales = sales(division);
    sales.set(LAST, change.apply(sales.get(LAST)));
    return run(division, sales, 0, ARTICLES);
  }

  private static boolean passes(HotStockRun whole, HotStockRun segments) {
    Outcome outcome = HotStock.outcome(whole, segments);
    assertEquals(outcome.ok(), outcome.explanation().startsWith("Each sold exactly 500"));
    return outcome.ok();
  }

  @Test
  void twoSalesOfTheWholeStockPass() {
    HotStockRun whole = right(StockDivision.WHOLE);
    HotStockRun segments = right(StockDivision.SEGMENTS);
    assertTrue(passes(whole, segments));
    assertEquals(1, whole.mostInside());
    assertEquals(5, segments.mostInside());
    assertEquals(5 * whole.perSecond(), segments.perSecond());
    assertTrue(
        HotStock.outcome(whole, segments).explanation().contains("5.0 times as many"),
        HotStock.outcome(whole, segments)::explanation);
  }

  @Test
  void eachFlawIsFoundInEitherSale() {
    for (StockDivision flawed : StockDivision.values()) {
      assertFails(flawed, run(flawed, sales(flawed), 1, ARTICLES), "one is left");
      assertFails(flawed, run(flawed, sales(flawed), 0, LAST), "a sale that no worker reports");
      assertFails(
          flawed, run(flawed, sales(flawed).subList(0, LAST), 0, ARTICLES), "a sale is missing");
      assertFails(flawed, run(flawed, List.of(), 0, 0), "nothing was sold");

      List<Sale> more = sales(flawed);
      more.add(new Sale(0, ARTICLES + 1, 0, 1000, 100_000, 100_001));
      assertFails(flawed, run(flawed, more, 0, ARTICLES + 1), "one too many");

      assertFails(
          flawed,
          withLast(flawed, s -> at(s, 2, s.token(), s.enteredNanos())),
          "an article is sold twice");
      assertFails(
          flawed,
          withLast(flawed, s -> at(s, s.article(), s.token(), s.enteredNanos() - 1)),
          "two inside in one part");
      assertFails(
          flawed,
          withLast(flawed, s -> at(s, s.article(), s.token() - 1, s.enteredNanos())),
          "a token that does not grow");
    }
  }

  private static Sale at(Sale sale, int article, long token, long enteredNanos) {
    return new Sale(sale.part(), article, sale.thread(), token, enteredNanos, sale.leftNanos());
  }

  private static void assertFails(StockDivision flawed, HotStockRun run, String flaw) {
    StockDivision other =
        flawed == StockDivision.WHOLE ? StockDivision.SEGMENTS : StockDivision.WHOLE;
    assertFalse(
        flawed == StockDivision.WHOLE ? passes(run, right(other)) : passes(right(other), run),
        () -> flaw + ": " + flawed);
  }

  @Test
  void segmentsThatSellOneAfterTheOtherDoNotPass() {
    List<Sale> oneByOne = new ArrayList<>();
    for (Sale sale : sales(StockDivision.SEGMENTS)) {
      long entered = oneByOne.size() * SALE_NANOS;
      oneByOne.add(
          new Sale(sale.part(), sale.article(), 0, sale.token(), entered, entered + SALE_NANOS));
    }
    HotStockRun segments = run(StockDivision.SEGMENTS, oneByOne, 0, ARTICLES);
    assertTrue(segments.isSafe());
    assertFalse(passes(right(StockDivision.WHOLE), segments));
  }
}
