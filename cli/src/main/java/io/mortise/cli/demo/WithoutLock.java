package io.mortise.cli.demo;

import io.mortise.cli.timeline.Overlaps;
import io.mortise.cli.timeline.Overlaps.Stretch;
import io.mortise.cli.worker.Till;
import io.mortise.cli.worker.Visit;
import java.util.ArrayList;
import java.util.List;

/** What goes wrong when nobody takes a lock. */
final class WithoutLock implements Chapter {

  @Override
  public String name() {
    return "without-lock";
  }

  @Override
  public String title() {
    return "Without a lock";
  }

  @Override
  public String story() {
    return "Each thread reads the stock, computes, and writes it back. Between the two, others do"
        + " the same: their writes go over each other, and the same article is sold again.";
  }

  @Override
  public void work(Till till) {
    boolean more = true;
    for (int i = 0; i < till.customers() && more; i++) {
      till.awaitCustomer();
      long now = System.nanoTime();
      more = LockedSale.sell(till, new Visit(0, now, now));
    }
  }

  @Override
  public Outcome play(Stage stage) throws InterruptedException {
    stage.open("seller");
    stage.awaitEnd();
    Sale sale = Sale.of(stage);
    int mostInside =
        Overlaps.stretches(sale.holds()).stream().mapToInt(Stretch::inside).max().orElse(0);
    List<Figure> figures = new ArrayList<>(sale.counts());
    figures.add(Figure.count("mostInside", "most inside at once", mostInside));
    boolean shown = sale.oversold() > 0;
    String explanation =
        shown
            ? "%d were sold although there were only %d: up to %d threads were inside at the same time."
                .formatted(sale.sold(), sale.stock(), mostInside)
            : "Nothing was oversold this time, by chance: try more --stock or more --threads.";
    return new Outcome(
        shown,
        explanation,
        figures,
        List.of(
            Excerpt.of(stage, "Bars above each other: several threads inside at the same time.")));
  }
}
